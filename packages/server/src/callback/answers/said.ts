/**
 * The beginning of a failing receiver's answer as text that people may read anywhere: in a terminal, a log line, a web
 * page. One line, no control characters, none that change the direction of the text around it.
 */

// Control characters, line ends of Unicode, and marks of direction.
// oxlint-disable-next-line no-control-regex -- this expression looks for control characters
const unseen = /[\u0000-\u0020\u007f-\u00a0\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g;
const decoder = new TextDecoder();
const replacement = '\ufffd';

/** Empty: there are no bytes, or none but white space. */
export function saidText(bytes: Uint8Array): string {
  // The last character may have been cut in two.
  const text = decoder.decode(bytes).replace(/\ufffd$/, '');
  if (text.includes(replacement) || text.includes('\0')) return '(bytes that are no text)';
  return text.replaceAll(unseen, ' ').trim();
}
