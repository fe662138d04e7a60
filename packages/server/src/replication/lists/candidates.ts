/** Walks over all live records of a namespace in slices, each in a turn of its own. */
import { State } from '@carillon/core';
import type { Position } from '../../store/number-index.ts';
import type { Replica } from '../replica.ts';
import type { ListAsk } from '../wire/list.ts';

const sliceLength = 2000;

/** Shows the handles of live records until `visit` returns false. `visit` counts the records that it reads. */
export async function eachCandidate(
  { store, scans }: Pick<Replica, 'store' | 'scans'>,
  { namespace }: Pick<ListAsk, 'namespace'>,
  visit: (handle: number) => boolean,
): Promise<void> {
  let after: Position | null = null;
  do {
    const handles: number[] = [];
    after = store.next(after, sliceLength, handles);
    for (const handle of handles) {
      const isOurs =
        store.stateOf(handle) === State.live && store.namespaceOf(handle) === namespace;
      if (isOurs && !visit(handle)) return;
      if (!scans.isFull) continue;
      after = { hi: store.hiOf(handle), lo: store.loOf(handle) };
      break;
    }
    if (after !== null) await scans.next();
  } while (after !== null);
}
