/** Items that are sent many at a time, some batches beside each other. */

/** Within the default limits of a member, with room to spare. */
const countMax = 500;
const bytesMax = 1_000_000;
const underWayMax = 4;

export class Batches<T> {
  private readonly send: (items: readonly T[]) => Promise<void>;
  private waiting: T[] = [];
  private waitingBytes = 0;
  private readonly underWay = new Set<Promise<void>>();
  private failed = false;

  constructor(send: (items: readonly T[]) => Promise<void>) {
    this.send = send;
  }

  /** Resolves when there is room for more. Rejects, as `end` does, with the failure of a batch. */
  async add(item: T, bytes: number): Promise<void> {
    this.waiting.push(item);
    this.waitingBytes += bytes;
    if (this.waiting.length >= countMax || this.waitingBytes >= bytesMax) this.begin();
    while (this.underWay.size >= underWayMax) await Promise.race(this.underWay);
  }

  /** Sends the rest; resolves when all is sent. */
  async end(): Promise<void> {
    this.begin();
    await Promise.all(this.underWay);
  }

  private begin(): void {
    const items = this.waiting;
    this.waiting = [];
    this.waitingBytes = 0;
    if (items.length === 0 || this.failed) return;
    const sending = this.send(items).then(
      () => void this.underWay.delete(sending),
      (error: unknown) => {
        // A failed batch stays in the set, so that the next `add` or `end` rejects with its error.
        this.failed = true;
        throw error;
      },
    );
    sending.catch(() => {});
    this.underWay.add(sending);
  }
}
