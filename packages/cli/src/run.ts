/** One command line, from arguments to exit code. Everything that goes wrong becomes a sentence here. */
import { ApiError, UnreachableError } from '@carillon/client';
import { nearestWord, sentenceOf } from '@carillon/core';
import { type Command, type Entry, exit, type Io, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { asCalledHere, ownName } from './terminal/own-name.ts';
import { inPlainWords, isWrongFile } from './terminal/plain-words.ts';
import { paint, paintErr } from './terminal/style.ts';

export async function run(args: readonly string[], io: Io, release: string): Promise<number> {
  const [first, ...rest] = args;
  if (first === undefined) {
    io.err(overview(io));
    return exit.usage;
  }
  if (first === '--version' || first === 'version') {
    io.out(release);
    return exit.done;
  }
  const asksHelp = first === '--help' || first === '-h' || first === 'help';
  const name = asksHelp ? rest[0] : first;
  if (name === undefined || name.startsWith('-')) {
    if (asksHelp) io.out(overview(io));
    else io.err(`carillon: ${first} is not a command; ${ownName} --help lists them.`);
    return asksHelp ? exit.done : exit.usage;
  }
  const entry = commands.find((known) => known.name === name);
  if (entry === undefined) {
    io.err(unknownCommand(name));
    return exit.usage;
  }
  const command = await entry.load();
  if (asksHelp || helpAsked(rest)) {
    io.out(helpOf(command, io));
    return exit.done;
  }
  return runCommand(command, rest, io);
}

async function runCommand(command: Command, args: readonly string[], io: Io): Promise<number> {
  try {
    return await command.run(args, withCallsHere(io));
  } catch (error) {
    const asJson = args.includes('--json');
    if (error instanceof UsageError) {
      report(io, asJson, { error: `carillon ${command.name}: ${error.message}` });
      return exit.usage;
    }
    if (io.signal.aborted) return exit.interrupted;
    report(io, asJson, told(error));
    return isWrongFile(error) ? exit.usage : exit.failed;
  }
}

interface Told {
  readonly error: string;
  readonly status?: number;
  readonly problem?: unknown;
}

function told(error: unknown): Told {
  if (error instanceof ApiError) {
    const { status, problem } = error;
    const at =
      typeof problem?.pointer === 'string' && problem.pointer !== ''
        ? ` (at ${problem.pointer})`
        : '';
    const how = status === 401 ? ` ${tokenHint}` : '';
    return {
      error: `The cluster refused (${status}): ${error.message}${at}${how}`,
      status,
      problem,
    };
  }
  if (error instanceof UnreachableError) {
    return { error: `${error.message} ${unreachableHint(error)}` };
  }
  const text = withoutLibrary(sentenceOf(error));
  // By name: most commands need no etcd, and do not load the code for it.
  if (error instanceof Error && error.name === 'EtcdError')
    return { error: `${text} --etcd names another.` };
  return {
    error: (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? `${text}. ${portHint}` : text,
  };
}

function unreachableHint({ code, attempts }: UnreachableError): string {
  if (code === 'NOT_A_MEMBER') return '--server names another.';
  // A member with a certificate closes a connection that does not begin with TLS.
  const closed = attempts.find(
    ({ member, reason }) =>
      member.startsWith('http:') && /hang up|ECONNRESET|other side closed/.test(reason),
  );
  if (closed === undefined) return 'Is a member running there? --server names another.';
  const https = closed.member.replace(/^http:/, 'https:');
  return `A member that speaks https closes such connections: if it does, say --server ${https}, with NODE_EXTRA_CA_CERTS=FILE for a private authority.`;
}

/** The library of locks names itself in its errors; a command has a name of its own. */
function withoutLibrary(text: string): string {
  if (!text.startsWith('ring: ')) return text;
  const [first = '', ...rest] = text.slice('ring: '.length);
  return first.toUpperCase() + rest.join('');
}

const tokenHint = '--token-file FILE or $CARILLON_TOKEN says which token to show.';
const portHint = 'Is a member running there already? --listen HOST:PORT names another address.';

function report(io: Io, asJson: boolean, what: Told): void {
  const error = here(inPlainWords(what.error));
  io.err(asJson ? JSON.stringify({ ...what, error }) : paintErr(io, 'red', error));
}

/** Whether help is asked for; arguments behind `--` belong to another program. */
function helpAsked(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}

function helpOf(command: Command, io: Io): string {
  const examples = command.examples.map((line) => `  ${line}`).join('\n');
  return here(
    `${command.summary}\n\n${command.usage}\n\n${paint(io, 'bold', 'Examples')}\n${examples}`,
  );
}

/** Advice on the error side has command lines that work here, also in texts of the server. */
function withCallsHere(io: Io): Io {
  const err = (text: string): void => io.err(here(text));
  // Not a copy: reading `input` would open standard input.
  return Object.create(io, { err: { value: err } }) as Io;
}

/** Every first word behind `carillon` in a command line. */
const firstWords = new Set([...commands.map(({ name }) => name), 'COMMAND', '--help', '--version']);

function here(text: string): string {
  return asCalledHere(text, firstWords);
}

function overview(io: Io): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const line = ({ name, summary }: Entry): string => `  ${name.padEnd(width)}  ${summary}`;
  return `${paint(io, 'bold', 'carillon')} rings the right bell on the right member at the right time.

Usage: ${ownName} COMMAND [ARGUMENTS] [--json] [--help]

${commands.map(line).join('\n')}

${ownName} COMMAND --help tells the flags of a command and shows examples. All but lock take --json.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`;
}

function unknownCommand(name: string): string {
  const known = commands.map((entry) => entry.name);
  const near = nearestWord(name, known, Math.max(1, Math.floor(name.length / 3)));
  const hint = near === null ? '' : ` Did you mean "${near}"?`;
  return `carillon: There is no command "${name}"; ${ownName} --help lists them.${hint}`;
}
