/** Collects grants, checks and ends of locks, key by key, and judges them by `lock-model.ts`. */
import { notLinearizable, type Operation } from './linearizable.ts';
import { type LockOperation, lockModel } from './lock-model.ts';

/** A grant that was seen. Its end is recorded once, at the latest by `notLinearizable`. */
export interface RecordedLock {
  readonly key: string;
  readonly token: bigint;
  /** The last moment at which the lock was known to be valid. */
  validMs: number;
  over: boolean;
}

export class LockRecorder {
  private readonly histories = new Map<string, Operation<LockOperation>[]>();
  private readonly locks: RecordedLock[] = [];

  get count(): number {
    return [...this.histories.values()].reduce((sum, { length }) => sum + length, 0);
  }

  grant(
    key: string,
    token: bigint,
    asked: { readonly fromMs: number; readonly toMs: number },
  ): RecordedLock {
    const lock: RecordedLock = { key, token, validMs: asked.fromMs, over: false };
    this.locks.push(lock);
    this.push(lock, 'grant', asked);
    return lock;
  }

  /** `assertValid` was called at `fromMs`, and had returned at `toMs`. */
  check(lock: RecordedLock, fromMs: number, toMs: number): void {
    this.push(lock, 'check', { fromMs, toMs });
    lock.validMs = Math.max(lock.validMs, fromMs);
  }

  /** The holder gave the lock back, or learned of its loss, at `atMs`. */
  end(lock: RecordedLock, atMs: number): void {
    if (lock.over) return;
    lock.over = true;
    this.push(lock, 'end', { fromMs: lock.validMs, toMs: atMs });
  }

  /** One sentence for each key whose history no single lock could have made. */
  violations(): readonly string[] {
    // A holder that was killed never says that its lock is over.
    for (const lock of this.locks) this.end(lock, Number.POSITIVE_INFINITY);
    return [...this.histories].flatMap(([key, history]) => {
      const longest = notLinearizable(history, lockModel);
      if (longest === null) return [];
      const last = longest.slice(-6).map(({ does, token }) => `${does} ${token}`);
      return [
        `${key}: ${longest.length} of ${history.length} operations fit one lock; the last of them: ${last.join(', ')}.`,
      ];
    });
  }

  private push(
    { key, token }: RecordedLock,
    does: LockOperation['does'],
    span: { readonly fromMs: number; readonly toMs: number },
  ): void {
    const history = this.histories.get(key) ?? [];
    this.histories.set(key, history);
    history.push({ op: { does, token }, ...span });
  }
}
