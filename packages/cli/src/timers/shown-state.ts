/** The state of a timer as people read it. */
import type { Timer } from '@carillon/client';

/** A recurring timer whose newest pop was given up waits for its next one, but all is not well. */
export function shownState({ state, lastFailure }: Pick<Timer, 'state' | 'lastFailure'>): string {
  return state === 'pending' && lastFailure !== null ? 'failing' : state;
}
