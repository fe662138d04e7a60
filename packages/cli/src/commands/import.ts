/** `carillon import`: timers from NDJSON, as `carillon export` writes it, back into a cluster under their own numbers. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { ApiError, type Carillon } from '@carillon/client';
import { getTimer } from '../timers/api-timer.ts';
import { type Command, exit, type Io, UsageError } from '../command.ts';
import { connect, connectOptions, connectUsage, namedNamespace } from '../member/connect.ts';
import { type ImportTimer, isThere, readImportLine } from '../timers/import-line.ts';
import { inParallel } from '../timers/in-parallel.ts';
import { type Line, linesOf } from '../timers/lines.ts';
import { type OptionKinds, parseOptions } from '../options.ts';
import { Progress } from '../terminal/progress.ts';
import { jsonLine, oneLine, paintErr } from '../terminal/style.ts';

const kinds = {
  ...connectOptions,
  'dry-run': 'flag',
  'skip-overdue': 'flag',
} as const satisfies OptionKinds;
const width = 16;
const lineLengthMax = 4_000_000;

export const command: Command = {
  name: 'import',
  summary: 'Set timers from NDJSON, as export writes it.',
  usage: `Usage: carillon import [FILE] [flags]

Sets the timers of FILE, or of standard input, each under its own number: importing twice changes nothing. A single pop stays
due at its instant (at once, if that has passed); a recurring timer pops as often as it had left, its interval beginning now.
What fails is told with its line, the rest is imported; exit 1 then. Timers go to the namespace they came from, or to the one
that --namespace names.

  --dry-run        Only tell what would be set
  --skip-overdue   Leave out single pops whose instant has passed: they may have popped already
${connectUsage}`,
  examples: ['carillon import timers.ndjson --dry-run', 'zcat all.gz | carillon import'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [file, extra] = operands;
    if (extra !== undefined) {
      throw new UsageError(`"${extra}" is too much here; name one file, or none for the input.`);
    }
    const work = new Import(connect(flags, io), io, {
      json: flags.json,
      dryRun: flags['dry-run'],
      skipOverdue: flags['skip-overdue'],
      keepNamespace: namedNamespace(flags, io) === null,
    });
    const size = file === undefined ? null : await sizeOf(file);
    const input = file === undefined ? process.stdin : createReadStream(file);
    try {
      await work.run(linesOf(input, lineLengthMax), size);
    } finally {
      work.summarize();
    }
    return work.counts.failed === 0 ? exit.done : exit.failed;
  },
};

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() === true) return found.size;
  throw new UsageError(`There is no file ${file} to import.`);
}

interface Options {
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly skipOverdue: boolean;
  /** Each timer goes to the namespace its line names. */
  readonly keepNamespace: boolean;
}

class Import {
  readonly counts = { set: 0, unchanged: 0, skipped: 0, failed: 0 };
  private readonly client: Carillon;
  private readonly io: Io;
  private readonly options: Options;
  private readonly progress: Progress;

  constructor(client: Carillon, io: Io, options: Options) {
    this.client = client;
    this.io = io;
    this.options = options;
    this.progress = new Progress(io, !options.json);
  }

  /** `size`: of all lines in bytes; null where it is not known. Rejects when no member answers. */
  async run(lines: AsyncIterable<Line>, size: number | null): Promise<void> {
    await inParallel(lines, width, async (line) => {
      this.io.signal.throwIfAborted();
      await this.line(line);
      const share = size === null || size === 0 ? null : line.bytes / size;
      this.progress.update(share, countsText(this.counts, this.options.dryRun));
    });
  }

  summarize(): void {
    const { io, counts, options } = this;
    if (options.json) jsonLine(io, { ...counts, dryRun: options.dryRun });
    else io.out(`${countsText(counts, options.dryRun)}.`);
  }

  private async line({ number, text }: Line): Promise<void> {
    if (text === null) return this.failed(number, 'The line is too long to be a timer.');
    const read = readImportLine(text);
    if (read.kind === 'bad') return this.failed(number, read.why);
    if (read.kind === 'dead-letter') {
      this.counts.skipped++;
      return;
    }
    try {
      this.counts[await this.timer(read.timer)]++;
    } catch (error) {
      // The cluster refuses this one; without any answer there is no point in going on.
      if (!(error instanceof ApiError)) throw error;
      const pointer = textOfPointer(error);
      this.failed(number, `The cluster refused (${error.status}): ${error.message}${pointer}`);
    }
  }

  private async timer(timer: ImportTimer): Promise<'set' | 'unchanged' | 'skipped'> {
    const { client, io, options } = this;
    const { id, body, atMs, namespace } = timer;
    const named = options.keepNamespace && namespace !== null;
    const headers: Record<string, string> = named ? { 'carillon-namespace': namespace } : {};
    const present = await getTimer(client, id, io, headers);
    if (present !== null && isThere(present, timer)) return 'unchanged';
    if (options.skipOverdue && atMs !== null && atMs <= Date.now()) return 'skipped';
    if (!options.dryRun) {
      const path = `/timers/${id}`;
      await client.request({ method: 'PUT', path, headers, body, signal: io.signal });
    }
    return 'set';
  }

  private failed(line: number, error: string): void {
    const { io, options } = this;
    this.counts.failed++;
    if (options.json) jsonLine(io, { line, error });
    else io.err(paintErr(io, 'red', oneLine(`Line ${line}: ${error}`)));
    this.progress.interrupted();
  }
}

function textOfPointer({ problem }: ApiError): string {
  return typeof problem?.pointer === 'string' && problem.pointer !== ''
    ? ` (at ${problem.pointer})`
    : '';
}

function countsText({ set, unchanged, skipped, failed }: Import['counts'], dry: boolean): string {
  return `${set} ${dry ? 'would be set' : 'set'}, ${unchanged} unchanged, ${skipped} left out, ${failed} failed`;
}
