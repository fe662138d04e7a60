/** Adds the records that came from disk to the search indexes, once the member serves: a start does not wait for it. */
import type { Parts } from './parts.ts';

/** So many at once cost less than the turns between them. */
const firstCount = 5000;
/** About a millisecond of work. */
const sliceCount = 500;

export function buildSearch(parts: Parts, isStopping: () => boolean): void {
  const { store, options } = parts;
  if (store.buildSearch(firstCount)) return;
  buildRest(parts, isStopping).catch((error: unknown) => options.onFailed(error));
}

async function buildRest(
  { store, replica: { scans }, options }: Parts,
  isStopping: () => boolean,
): Promise<void> {
  const { clock, log } = options.env;
  const startMs = clock.now();
  while (!isStopping()) {
    await scans.next();
    if (!store.buildSearch(sliceCount)) continue;
    const tookMs = Math.round(clock.now() - startMs);
    log.info('The search indexes are built.', {
      event: 'search-built',
      records: store.size,
      tookMs,
    });
    return;
  }
}
