/**
 * `carillon import`: timers from NDJSON, as `carillon export` writes it, back into a cluster under their own numbers.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type ApiAnswer, ApiError, type Carillon } from '@carillon/client';
import { getTimer, isJson, listJson, namesTimer, textOf } from '../../timers/api-timer.ts';
import { Batches } from '../../timers/batches.ts';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage, namedNamespace } from '../../member/connect.ts';
import { type ImportTimer, isThere, readImportLine } from '../../timers/import-line.ts';
import { inParallel } from '../../timers/in-parallel.ts';
import { type Line, linesOf } from '../../timers/lines.ts';
import { type OptionKinds, parseOptions } from '../../options.ts';
import { Progress } from '../../terminal/progress.ts';
import { jsonLine, oneLine, paintErr } from '../../terminal/style.ts';

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

Sets the timers of FILE, or of standard input, each under its own number: importing twice changes nothing. A single pop
stays due at its instant (at once, if that has passed). A recurring timer makes the pops that it had left; its interval
begins now. A line that fails is reported by its number, and the others are imported; exit 1 then. Timers go to the
namespace they came from, or to the one that --namespace names.

  --dry-run        Set nothing; tell how many timers would be set
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

type Headers = Readonly<Record<string, string>>;

interface Item {
  readonly line: number;
  readonly timer: ImportTimer;
  /** Of its requests. */
  readonly headers: Headers;
}

/** A namespace that timers go to. */
interface Place {
  readonly headers: Headers;
  readonly batches: Batches<Item>;
  /** Numbers of the timers that are there; null: not known, so that each is asked for. */
  readonly numbers: ReadonlySet<string> | null;
}

/** The number of the timer, the same for every factor and every list of replicas. */
function numberOf(id: string): string {
  return id.slice(0, 16);
}

class Import {
  readonly counts = { set: 0, unchanged: 0, skipped: 0, failed: 0 };
  private readonly client: Carillon;
  private readonly io: Io;
  private readonly options: Options;
  private readonly progress: Progress;
  /** By namespace header; '' for none. */
  private readonly places = new Map<string, Promise<Place>>();

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
    for (const place of this.places.values()) await (await place).batches.end();
  }

  summarize(): void {
    const { io, counts, options } = this;
    if (options.json) jsonLine(io, { ...counts, 'dry-run': options.dryRun });
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
    const { namespace } = read.timer;
    const place = await this.placeOf(this.options.keepNamespace ? (namespace ?? '') : '');
    const item = { line: number, timer: read.timer, headers: place.headers };
    const isNew = place.numbers !== null && !place.numbers.has(numberOf(read.timer.id));
    if (!isNew) return this.alone(item);
    if (this.isOver(read.timer)) this.counts.skipped++;
    else if (this.options.dryRun) this.counts.set++;
    else await place.batches.add(item, text.length);
  }

  /** Asks for the timer first: one that is there as exported, or as imported before, is left alone. */
  private async alone({ line, timer, headers }: Item): Promise<void> {
    const { client, io, options } = this;
    const { id, body } = timer;
    try {
      const present = await getTimer(client, id, io, headers);
      if (present !== null && isThere(present, timer)) this.counts.unchanged++;
      else if (this.isOver(timer)) this.counts.skipped++;
      else {
        const { signal } = io;
        const request = { method: 'PUT', path: `/timers/${id}`, headers, body, signal } as const;
        if (!options.dryRun) await client.request({ ...request, fits: namesTimer });
        this.counts.set++;
      }
    } catch (error) {
      // The cluster refuses this one; without any answer there is no point in going on.
      if (!(error instanceof ApiError)) throw error;
      const pointer = textOfPointer(error);
      this.failed(line, `The cluster refused (${error.status}): ${error.message}${pointer}`);
    }
  }

  private isOver({ atMs }: ImportTimer): boolean {
    return this.options.skipOverdue && atMs !== null && atMs <= Date.now();
  }

  private placeOf(namespace: string): Promise<Place> {
    const known = this.places.get(namespace);
    if (known !== undefined) return known;
    const made = this.look(namespace === '' ? {} : { 'carillon-namespace': namespace });
    this.places.set(namespace, made);
    return made;
  }

  /** Which timers are there, in one walk: the others need no question each. */
  private async look(headers: Headers): Promise<Place> {
    const batches = new Batches<Item>((items) => this.sendMany(items, headers));
    const numbers = new Set<string>();
    let complete = true;
    const onMissing = (): void => void (complete = false);
    try {
      for await (const json of listJson(
        this.client,
        { path: '/timers', headers, onMissing },
        this.io,
      )) {
        numbers.add(numberOf(textOf(json['id'])));
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      complete = false;
    }
    return { headers, batches, numbers: complete ? numbers : null };
  }

  /** An item that is not set so is tried alone: the answer to that is the one that counts. */
  private async sendMany(items: readonly Item[], headers: Headers): Promise<void> {
    const { signal } = this.io;
    const body = items.map(({ timer: { id, body: timer } }) => ({ change: 'replace', id, timer }));
    const request = { method: 'POST', path: '/timers/batch', headers, body, signal } as const;
    const fits = (answer: ApiAnswer): boolean => Array.isArray(answer.body);
    const outcomes = await this.client.request({ ...request, fits }).then(
      (answer) => answer.body as readonly unknown[],
      (error: unknown) => {
        if (error instanceof ApiError) return [];
        throw error;
      },
    );
    for (const [i, item] of items.entries()) {
      const outcome: unknown = outcomes[i];
      if (isJson(outcome) && outcome['status'] === 200) this.counts.set++;
      else await this.alone(item);
    }
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
