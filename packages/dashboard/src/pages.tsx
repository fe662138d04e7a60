/** Back and forth between the pages of a list. Pages are found by cursors, so the way back is remembered. */
import { go } from './route.ts';

export interface Trail {
  /** Where this page begins; null for the first. */
  readonly cursor: string | null;
  /** From 1. */
  readonly page: number;
  readonly back: () => void;
  readonly on: (cursor: string) => void;
}

/** The way is in the address, so that Back, reload and a copied address lead to the same page. */
export function addressTrail(query: URLSearchParams, address: (at: string) => string): Trail {
  const at = query.get('at') ?? '';
  const trail = at === '' ? [] : at.split(',');
  return {
    cursor: trail.at(-1) ?? null,
    page: trail.length + 1,
    back: () => go(address(trail.slice(0, -1).join())),
    on: (cursor) => go(address([...trail, cursor].join())),
  };
}

/** Buttons for the previous and the next page; nothing when there is only one page. */
export function Pager({ trail, next }: { readonly trail: Trail; readonly next: string | null }) {
  if (trail.page === 1 && next === null) return null;
  return (
    <div class="pages">
      <button type="button" class="button" disabled={trail.page === 1} onClick={trail.back}>
        Back
      </button>
      <button
        type="button"
        class="button"
        disabled={next === null}
        onClick={() => {
          if (next !== null) trail.on(next);
        }}
      >
        Next
      </button>
    </div>
  );
}
