/** `carillon dev`: a whole cluster and a receiver on this machine, to watch and to break. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '@carillon/core/system';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { DevMember } from '../../member/dev-member.ts';
import { ToldLines } from '../../member/told-lines.ts';
import { memberValues } from '../../member/member-config.ts';
import { arrivalJson, arrivalText, listen } from '../timers/listen.ts';
import { type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { ownName } from '../../terminal/own-name.ts';
import { jsonLine, paint } from '../../terminal/style.ts';

const kinds = {
  json: 'flag',
  members: 'text',
  port: 'text',
  'receiver-port': 'text',
  data: 'text',
  memory: 'flag',
  'log-level': 'text',
} as const satisfies OptionKinds;
/** Between the port of a member's API and the one its peers use. */
const peerOffset = 100;

interface DevAddress {
  readonly name: string;
  /** `host:port` of the API. */
  readonly address: string;
}

interface DevOptions {
  readonly count: number;
  readonly port: number;
  readonly receiverPort: number;
  /** null: a folder of its own, removed at the end. */
  readonly data: string | null;
  readonly memory: boolean;
  readonly logLevel: string;
  readonly json: boolean;
}

export const command: Command = {
  name: 'dev',
  summary: 'A local cluster with a receiver, to try things out.',
  usage: `Usage: carillon dev [flags]

Starts members as processes of their own on 127.0.0.1, and a receiver; prints every event. Ctrl-C ends all. The name of
a member that has ended, typed with Enter, starts it again.

  --members N          How many members; default 3
  --port N             API port of the first; the others follow. Peers use the ports 100 above. Default 7253
  --receiver-port N    Default 8080
  --data DIR           Keep timers here; default: a folder that is removed at the end
  --memory             Keep nothing on disk
  --log-level LEVEL    Of the members; default warn
  --json               One JSON object a line`,
  values: { '--log-level': memberValues['--log-level'] },
  examples: ['carillon dev', 'carillon dev --members 5 --memory'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    if (operands.length > 0) throw new UsageError(`"${operands[0]}" is too much here.`);
    const count = wholeNumber('--members', flags.members ?? '3', { min: 1, max: peerOffset });
    return new Dev(
      {
        count,
        port: wholeNumber('--port', flags.port ?? '7253', { min: 1, max: 65_535 - 2 * peerOffset }),
        receiverPort: wholeNumber('--receiver-port', flags['receiver-port'] ?? '8080', {
          min: 0,
          max: 65_535,
        }),
        data: flags.data ?? null,
        memory: flags.memory,
        logLevel: flags['log-level'] ?? 'warn',
        json: flags.json,
      },
      io,
    ).run();
  },
};

class Dev {
  private readonly options: DevOptions;
  private readonly io: Io;
  private readonly members: DevMember[] = [];
  private readonly told = new ToldLines();
  private receiverUrl = '';
  private folder = '';
  private view: readonly DevAddress[] = [];
  /** All members have been ready once. */
  private serving = false;

  constructor(options: DevOptions, io: Io) {
    this.options = options;
    this.io = io;
  }

  async run(): Promise<number> {
    const { data } = this.options;
    const folder = data ?? mkdtempSync(join(tmpdir(), 'carillon-dev-'));
    makeFolder(folder);
    const stop = new AbortController();
    this.io.signal.addEventListener('abort', () => stop.abort(), { once: true });
    try {
      await this.refuseTakenPorts();
      const receiving = this.receive(stop.signal);
      this.startMembers(folder);
      const started = await Promise.race([this.whenReady(), receiving.then(() => false)]);
      if (started) await Promise.race([receiving, this.obey()]);
      if (started) await receiving;
      stop.abort();
      await receiving;
      return started || this.io.signal.aborted ? exit.done : exit.failed;
    } finally {
      stop.abort();
      await Promise.all(this.members.map((member) => member.stop()));
      if (data === null) rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Another program at one of the ports, perhaps a member, would be taken for one of ours. */
  private async refuseTakenPorts(): Promise<void> {
    const { port, count } = this.options;
    for (let i = 0; i < count; i++) {
      for (const one of [port + i, port + peerOffset + i]) {
        if (await isFree(one)) continue;
        throw new Error(
          `Port ${one} of 127.0.0.1 is taken, perhaps by members that run already; --port N takes N to N + ${count - 1}, and the ports ${peerOffset} above.`,
        );
      }
    }
  }

  /** Starts members that have ended again, when their names are typed. Returns when no more can be typed. */
  private async obey(): Promise<void> {
    for await (const chunk of this.io.input) {
      for (const name of chunk
        .toString()
        .split('\n')
        .map((line) => line.trim())) {
        const at = this.members.findIndex((member) => member.name === name);
        if (at === -1 || this.members[at]?.isRunning === true) continue;
        this.members[at] = this.start(this.view[at] as DevAddress);
        const { url, pid } = this.members[at];
        this.tell({ event: 'member', name, url, pid }, `Member ${name} starts again (pid ${pid})`);
      }
    }
  }

  private receive(signal: AbortSignal): Promise<void> {
    const { receiverPort, json } = this.options;
    const options = {
      host: '127.0.0.1',
      port: receiverPort,
      status: 200,
      delayMs: 0,
      countMax: Number.POSITIVE_INFINITY,
      portFlag: '--receiver-port',
    };
    return listen(options, signal, {
      started: (url) => {
        this.receiverUrl = url;
        this.tell({ event: 'receiver', url }, `Receiver at ${url}`);
      },
      arrived: (arrival) => {
        if (json) jsonLine(this.io, { event: 'pop', ...arrivalJson(arrival) });
        else this.io.out(arrivalText(arrival, this.io));
      },
    });
  }

  private startMembers(folder: string): void {
    const { count, port } = this.options;
    this.folder = folder;
    const names = Array.from({ length: count }, (_, i) => `n${i}`);
    this.view = names.map((name, i) => ({
      name,
      address: `127.0.0.1:${port + i}`,
      peer: `127.0.0.1:${port + peerOffset + i}`,
      phase: 'active',
      weight: 1,
    }));
    writeFileSync(this.membersFile, `${JSON.stringify({ members: this.view }, null, 2)}\n`);
    this.members.push(...this.view.map((member) => this.start(member)));
  }

  private get membersFile(): string {
    return join(this.folder, 'members.json');
  }

  private start({ name, address }: DevAddress): DevMember {
    const { memory, logLevel } = this.options;
    const kept = memory ? ['--memory'] : ['--data', join(this.folder, name)];
    const where = ['--name', name, '--members', this.membersFile];
    const args = ['serve', ...where, '--log-level', logLevel, ...kept];
    return new DevMember({ name, address, args, env: this.io.env }, (line, shared) => {
      // While they start, members look for others that are not there yet.
      if (!this.serving && line.startsWith('A peer cannot be reached')) return;
      if (shared !== null && !this.told.isNews(shared, Date.now())) return;
      this.tell({ event: 'log', member: name, line }, `${paint(this.io, 'blue', name)} ${line}`);
    });
  }

  private async whenReady(): Promise<boolean> {
    const outcomes = await Promise.all(this.members.map((member) => member.ready(this.io.signal)));
    if (this.io.signal.aborted) return false;
    if (outcomes.includes(false)) {
      this.io.err('Not all members started; --port names other ports.');
      return false;
    }
    for (const { name, url, pid } of this.members) {
      this.tell({ event: 'member', name, url, pid }, `Member ${name} at ${url} (pid ${pid})`);
    }
    this.serving = true;
    const [first, second = first] = this.members;
    if (!this.options.json && first !== undefined && second !== undefined)
      this.io.err(hints({ first, second, receiverUrl: this.receiverUrl }));
    return true;
  }

  private tell(event: object, text: string): void {
    if (this.options.json) jsonLine(this.io, event);
    else this.io.err(text);
  }
}

interface Hinted {
  /** Commands go to this one. */
  readonly first: DevMember;
  /** This one can be killed without harm to the commands. */
  readonly second: DevMember;
  readonly receiverUrl: string;
}

function hints({ first: { url }, second: { name, pid }, receiverUrl }: Hinted): string {
  return `
Look at it:        ${url}/ in a browser
Set a timer:       ${ownName} set 5s ${receiverUrl}/ --opaque hello --server ${url}
See the members:   ${ownName} cluster members --server ${url}
Break something:   kill -9 ${pid} (${name}), then type ${name} and Enter here to start it again
`;
}

/** Whether nothing listens at a port of 127.0.0.1. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
