/** How a timer ended, in words. */
import { instant } from '../../format.ts';
import type { EndedShape } from '../shapes.ts';

const words = {
  cancelled: 'It was cancelled',
  delivered: 'Its last pop was delivered',
  'given-up': 'Its last pop was given up',
} as const;

/** Empty: members do not remember its end. */
export function endWords(end: EndedShape | undefined): string {
  if (end?.ended === undefined) return '';
  const when = end['ended-at'] === undefined ? '' : ` at ${instant(end['ended-at'])}`;
  const isLetterGone = end.ended === 'given-up' && end['dead-letter'] === undefined;
  const since = isLetterGone ? ' Its dead letter was sent again or dropped since.' : '';
  return `${words[end.ended]}${when}.${since}`;
}
