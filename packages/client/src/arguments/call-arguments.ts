/** Arguments of the client's calls. Each check throws TypeError with a sentence, before anything is sent. */
import { namesOf, refuseUnknown, shown } from '@carillon/core';
import type { CallOptions, PagedOptions } from '../pages.ts';

export const callNames = namesOf<CallOptions>({ signal: 1 });
export const pagedNames = namesOf<PagedOptions>({ signal: 1, pageSize: 1, onMissing: 1 });

/** `thing` is the call, such as `list`; its options may have these names. */
export function checkOptions(
  options: { readonly signal?: AbortSignal | undefined },
  thing: string,
  names = callNames,
): void {
  refuseUnknown(options, thing, names);
  const signal: Partial<AbortSignal> | null | undefined = options.signal;
  if (signal === undefined || typeof signal?.throwIfAborted === 'function') return;
  throw new TypeError(`signal must be an AbortSignal, not ${shown(signal)}.`);
}

/** An id, which becomes a part of a path: no text that stands for another path there. */
export function checkedId(id: string, thing: string): string {
  if (typeof id === 'string' && !['', '.', '..'].includes(id) && id.isWellFormed()) return id;
  throw new TypeError(`The id of a ${thing} must be the text of one, not ${shown(id)}.`);
}

/** A text for a header. The sentence does not repeat it: it may be a token. */
export function headerText(name: string, text: string): string {
  if (typeof text === 'string' && /^[ -~]+$/.test(text) && text === text.trim()) return text;
  throw new TypeError(
    `${name} must be a text of printable ASCII characters, without spaces or line ends around it.`,
  );
}
