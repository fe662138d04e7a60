/** `carillon export`: every timer of the cluster as NDJSON, for backups and for `carillon import`. */
import { open, rename, rm } from 'node:fs/promises';
import type { Carillon } from '@carillon/client';
import { listJson, readApiTimer } from '../../timers/api-timer.ts';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage, namespaceOf } from '../../member/connect.ts';
import { type OptionKinds, parseOptions } from '../../options.ts';
import { Progress } from '../../terminal/progress.ts';
import { jsonLine, paintErr } from '../../terminal/style.ts';

const kinds = { ...connectOptions, 'dead-letters': 'flag' } as const satisfies OptionKinds;
/** A file is written in pieces of about this many characters. */
const pieceLength = 1 << 18;

export const command: Command = {
  name: 'export',
  summary: 'Write every timer as NDJSON.',
  usage: `Usage: carillon export [FILE] [flags]

Writes a line for each timer of the namespace, to standard output or to FILE: its id, its definition as the HTTP API has
it, when it was set, its pops so far and when the next is due. FILE is replaced only when everything is written. Exit 1
when members did not answer, so that timers may be missing; then FILE stays as it was.

  --dead-letters   Also the pops that were given up, as {"dead-letter": …}; import leaves them out
${connectUsage}`,
  examples: ['carillon export timers.ndjson', 'carillon export --dead-letters | gzip > all.gz'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [file, extra] = operands;
    if (extra !== undefined) {
      throw new UsageError(`"${extra}" is too much here; name one file, or none for the output.`);
    }
    const client = connect(flags, io);
    const namespace = await namespaceOf(client, flags, io);
    const work = new Export({ client, namespace }, io, file !== undefined && !flags.json);
    const sink = file === undefined ? null : await fileSink(file);
    try {
      await work.run((line) => sink?.write(line) ?? io.out(line), flags['dead-letters']);
      await sink?.close(work.missing.size === 0);
    } catch (error) {
      await sink?.close(false);
      throw error;
    }
    const { timers, deadLetters, missing } = work;
    const counts = { timers, 'dead-letters': deadLetters, missing: [...missing] };
    if (file !== undefined && flags.json) jsonLine(io, counts);
    else if (file !== undefined && missing.size === 0) io.out(summary(work, file));
    if (missing.size === 0) return exit.done;
    const names = counts.missing.join(', ');
    const so = file === undefined ? 'timers may be missing' : `${file} is left as it was`;
    io.err(paintErr(io, 'red', `No answer from ${names}: ${so}.`));
    return exit.failed;
  },
};

interface ExportFrom {
  readonly client: Carillon;
  readonly namespace: string;
}

class Export {
  timers = 0;
  deadLetters = 0;
  /** Members that did not answer. */
  readonly missing = new Set<string>();
  private readonly from: ExportFrom;
  private readonly io: Io;
  private readonly progress: Progress;

  constructor(from: ExportFrom, io: Io, shown: boolean) {
    this.from = from;
    this.io = io;
    this.progress = new Progress(io, shown);
  }

  async run(write: (line: string) => Promise<void> | void, withLetters: boolean): Promise<void> {
    const { io, progress } = this;
    const { client, namespace } = this.from;
    const onMissing = (members: readonly string[]): void => {
      for (const name of members) this.missing.add(name);
    };
    for await (const json of listJson(client, { path: '/timers', onMissing }, io)) {
      // The cluster makes its events itself.
      if (json['event'] !== undefined) continue;
      const { id, definition, set, sequence, nextDue } = readApiTimer(json);
      const line = { id, namespace, definition, set, sequence, 'next-due': nextDue };
      await write(JSON.stringify(line));
      progress.update(null, `${++this.timers} timers`);
    }
    if (!withLetters) return;
    for await (const json of listJson(client, { path: '/dead-letters', onMissing }, io)) {
      await write(JSON.stringify({ 'dead-letter': json }));
      progress.update(null, `${this.timers} timers, ${++this.deadLetters} dead letters`);
    }
  }
}

interface Sink {
  write(line: string): Promise<void>;
  /** Puts the file in its place; when it is not whole, leaves the former file. */
  close(whole: boolean): Promise<void>;
}

async function fileSink(file: string): Promise<Sink> {
  const part = `${file}.part`;
  // Only this user may read the file: opaques and headers of callbacks may be secret.
  const handle = await open(part, 'w', 0o600);
  let waiting = '';
  const flush = async (): Promise<void> => {
    const piece = waiting;
    waiting = '';
    await handle.writeFile(piece);
  };
  return {
    write: async (line) => {
      waiting += `${line}\n`;
      if (waiting.length >= pieceLength) await flush();
    },
    close: async (whole) => {
      if (whole) await flush();
      if (whole) await handle.sync();
      await handle.close();
      await (whole ? rename(part, file) : rm(part, { force: true }));
    },
  };
}

function summary({ timers, deadLetters }: Export, file: string): string {
  const letters = deadLetters === 0 ? '' : ` and ${deadLetters} dead letters`;
  return `${timers} timers${letters} in ${file}.`;
}
