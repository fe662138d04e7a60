/** Work that comes back every few seconds: snapshots, the form of the journal, and marks of the time. */
import type { Parts } from './parts.ts';
import { reserveMs } from './numbers.ts';

const intervalMs = 5000;
const markMs = 60_000;

export class Upkeep {
  private readonly parts: Parts;
  private cancel: () => void = () => {};

  constructor(parts: Parts) {
    this.parts = parts;
  }

  run(): void {
    const { journal, store, metrics, cluster, options } = this.parts;
    const { clock, log } = options.env;
    const failed = (error: unknown): void =>
      log.error('The upkeep of the journal failed.', {
        event: 'upkeep-failed',
        reason: String(error),
      });
    if (journal?.snapshots.pays(store.rowBytes) === true) {
      journal.snapshots
        .take({ records: store.records(), rows: store.rowBlocks() })
        .then((done) => done && metrics.snapshots.add(), failed);
    }
    if (cluster.state.isOfOneRelease) journal?.beginNewestForm().catch(failed);
    journal?.note().catch(failed);
    // So that a later start knows how long this member was away.
    if (journal !== null && clock.wall() > journal.marked - reserveMs + markMs) {
      journal.mark(clock.wall() + reserveMs);
      journal.commit(() => undefined);
    }
    this.parts.historyLog?.tend();
    this.cancel = clock.at(clock.now() + intervalMs, () => this.run());
  }

  stop(): void {
    this.cancel();
  }
}
