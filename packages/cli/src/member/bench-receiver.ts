/** Where the pops of a bench arrive: counts each timer's, and how late they came. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { performance } from 'node:perf_hooks';

/** A whole number in ten digits; more is not from here. */
const bodyBytesMax = 16;

export class BenchReceiver {
  /** Timers that have popped. */
  arrived = 0;
  /** Pops beyond the first of a timer. */
  doubles = 0;
  early = 0;
  private readonly counts: Uint8Array;
  /** When each timer may pop at the earliest, on this process's clock; NaN: not set yet. */
  private readonly earliestMs: Float64Array;
  private readonly latenesses: number[] = [];
  private readonly server: Server;

  constructor(timers: number) {
    this.counts = new Uint8Array(timers);
    this.earliestMs = new Float64Array(timers).fill(Number.NaN);
    this.server = createServer((request, response) => {
      const atMs = performance.now();
      const wallMs = Date.now();
      readIndex(request, (index) => {
        this.pop(index, atMs, wallMs - dueOf(request));
        response.writeHead(200).end();
      });
    });
  }

  /** Resolves with the URL to call. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', resolve);
    });
    const bound = this.server.address();
    return `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}/`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  expect(index: number, earliestMs: number): void {
    this.earliestMs[index] = earliestMs;
  }

  has(index: number): boolean {
    return (this.counts[index] ?? 0) > 0;
  }

  /** The lateness in milliseconds that this share of pops did not exceed; null: nothing came. */
  lateness(share: number): number | null {
    const sorted = this.latenesses.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
  }

  /** `index` as the opaque says, which anybody could send. */
  private pop(index: number, atMs: number, latenessMs: number): void {
    const count = this.counts[index];
    const earliestMs = this.earliestMs[index];
    if (count === undefined || earliestMs === undefined || Number.isNaN(earliestMs)) return;
    this.counts[index] = Math.min(255, count + 1);
    if (count > 0) {
      this.doubles++;
      return;
    }
    this.arrived++;
    // Both clocks count whole milliseconds somewhere on the way.
    if (atMs < earliestMs - 1) this.early++;
    if (!Number.isNaN(latenessMs)) this.latenesses.push(latenessMs);
  }
}

function dueOf({ headers }: IncomingMessage): number {
  const due = headers['x-timer-due'];
  return typeof due === 'string' ? Date.parse(due) : Number.NaN;
}

function readIndex(request: IncomingMessage, done: (index: number) => void): void {
  let text = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => {
    if (text.length <= bodyBytesMax) text += chunk;
  });
  request.on('end', () => done(/^\d{1,10}$/.test(text) ? Number(text) : -1));
}
