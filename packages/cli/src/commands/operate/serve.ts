/** `carillon serve`: one member, until it is told to stop. */
import { sentenceOf } from '@carillon/core';
import {
  type Config,
  type LoadedConfig,
  type RunningMember,
  StartError,
  type StartOptions,
  startMember,
  TokensFileError,
} from '@carillon/server';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { keepCompiled } from '../../member/compile-cache.ts';
import { memberConfig, memberUsage, memberValues } from '../../member/member-config.ts';
import { ownName } from '../../terminal/own-name.ts';
import { readLogLine } from '../../terminal/log-line.ts';
import { jsonLine, paint, paintErr } from '../../terminal/style.ts';

export const command: Command = {
  name: 'serve',
  summary: 'Run a member.',
  usage: `Usage: carillon serve [flags]

Runs until SIGTERM or Ctrl-C, then finishes the requests and callbacks under way and exits 0.
SIGHUP reads again: the members file, tokens, the secret between members, certificates, and the quotas of namespaces in
the configuration file. The log goes to standard output: one JSON object a line, or on a terminal (without --json) lines
for people.

${memberUsage}
  --json                 Once the member serves, one line of JSON with name, url, address (HOST:PORT, a port of 0 filled
                         in) and pid on standard output. Lines of the log have no url; --log-level silent leaves
                         them out`,
  values: memberValues,
  examples: [
    'carillon serve',
    'carillon serve --memory --listen 127.0.0.1:0',
    'carillon serve --name n0 --members members.json --data /var/lib/carillon',
  ],
  run: async (args, io) => {
    const { loaded, again, file, operands, json } = memberConfig(args, io);
    if (operands.length > 0) throw new UsageError(`"${operands[0]}" is too much here.`);
    if (!loaded.ok) {
      for (const problem of loaded.problems) io.err(problem);
      return exit.usage;
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<number>();
    const reread = { file, config: () => usable(again()) };
    const log = io.terminal && !json ? { writeLog: peopleLog(io) } : {};
    const running = await started({ config: loaded.config, reread, ...log }, io, end);
    if (running === null) return exit.usage;
    const { name, url, address } = running;
    if (json) jsonLine(io, { name, url, address, pid: process.pid });
    else io.err(welcome(running, loaded.config, io));
    keepCompiled();
    return untilEnded(running, ended, io);
  },
};

const levelColours = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const;

function peopleLog(io: Io): (line: string) => void {
  return (line) => {
    const { time, level, text } = readLogLine(line.trimEnd());
    const colour = levelColours[level as keyof typeof levelColours] ?? 'dim';
    io.out(`${paint(io, 'dim', time)}  ${paint(io, colour, level.padEnd(5))}  ${text}`);
  };
}

/** null: it must not start so, and why has been told. */
async function started(
  from: Pick<StartOptions, 'config' | 'reread' | 'writeLog'>,
  io: Io,
  end: (code: number) => void,
) {
  const told = tellOfEtcd(from.config, io);
  try {
    return await startMember({
      ...from,
      onFailed: (error) => {
        io.err(cannotGoOn(error));
        end(exit.failed);
      },
      onDrained: () => end(exit.done),
    });
  } catch (error) {
    if (!(error instanceof StartError || error instanceof TokensFileError)) throw error;
    io.err(paintErr(io, 'red', error.message));
    return null;
  } finally {
    clearTimeout(told);
  }
}

/** A start that takes longer than this waits for etcd, if there is one. */
const etcdQuietMs = 1000;

/** A member waits for etcd for a while before it gives up; without a line it would seem to hang. */
function tellOfEtcd({ cluster: { etcdEndpoints } }: Config, io: Io): NodeJS.Timeout | undefined {
  if (etcdEndpoints.length === 0) return undefined;
  return setTimeout(() => io.err(`Waiting for etcd at ${etcdEndpoints.join(', ')}.`), etcdQuietMs);
}

function usable(loaded: LoadedConfig): Config {
  if (!loaded.ok) throw new Error(loaded.problems.join(' '));
  return loaded.config;
}

function cannotGoOn(error: unknown): string {
  return `The member cannot go on: ${sentenceOf(error)}`;
}

/**
 * After a broken invariant the state of this process is not to be trusted: it ends at once, and the replicas take over.
 */
function endOnBug(io: Io): () => void {
  const onBug = (error: Error): void => {
    io.err(cannotGoOn(error));
    io.err(`A bug ended the member; its replicas take over. Where it happened: ${error.stack}`);
    process.exit(exit.failed);
  };
  process.on('uncaughtException', onBug);
  return () => process.off('uncaughtException', onBug);
}

async function untilEnded(running: RunningMember, ended: Promise<number>, io: Io): Promise<number> {
  const reload = (): void => {
    running.reload().catch((error: unknown) => {
      io.err(`These changes were not taken over: ${String(error)}`);
    });
  };
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>();
  const unwatch = endOnBug(io);
  process.on('SIGHUP', reload);
  io.signal.addEventListener('abort', () => stop(exit.done), { once: true });
  if (io.signal.aborted) stop(exit.done);
  const code = await Promise.race([ended, stopped]);
  process.off('SIGHUP', reload);
  unwatch();
  // After a failure nothing more can be promised: the replicas go on.
  if (code === exit.done) await running.stop();
  return code;
}

function welcome(running: RunningMember, config: Config, io: Io): string {
  const { name, address, url, needsToken } = running;
  const body =
    '{"timing":{"interval":2},"callback":{"http":{"uri":"http://127.0.0.1:8080/","opaque":"hello"}}}';
  const kept = config.durability === 'disk' ? `on disk in ${config.data}` : 'in memory only';
  // A name that is only the address it was told to listen at says nothing, and has a port of 0 where any will do.
  const shown = name === address || name === config.listen ? '' : ` ${name}`;
  return [
    `${paintErr(io, 'bold', `Carillon${shown}`)} serves at ${paintErr(io, 'cyan', url)}, timers are kept ${kept}.`,
    `The dashboard is at ${paintErr(io, 'cyan', `${url}/`)}, the API reference at ${url}/docs.`,
    `Try it: run "${ownName} listen" in another terminal, then`,
    `  curl -i ${url}/timers${needsToken ? ' -H "Authorization: Bearer $CARILLON_TOKEN"' : ''} -d '${body}'`,
  ].join('\n');
}
