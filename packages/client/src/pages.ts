/** Lists that come page by page, and the options of calls. */
import type { Page } from './shapes.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Of lists that come page by page. */
export interface PagedOptions extends CallOptions {
  /** Items asked for in one request; the iteration goes on over all of them. */
  readonly pageSize?: number;
  /** Called when members did not answer, so that items of theirs may be missing. */
  readonly onMissing?: (members: readonly string[]) => void;
}

export async function* pages<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  onMissing: ((members: readonly string[]) => void) | undefined,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    if (page.missing.length > 0) onMissing?.(page.missing);
    yield* page.items;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
}
