/** Names of namespaces. Every timer belongs to one, and requests see only the timers of theirs. */

/** Where a request belongs that says nothing. */
export const defaultNamespace = 'default';

/** In place of a name: a token that may choose any namespace. */
export const anyNamespace = '*';

export const namespaceRule =
  '1 to 64 lower-case letters, digits and . _ -, beginning with a letter or digit';

const form = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export function isNamespace(text: unknown): text is string {
  return typeof text === 'string' && form.test(text);
}
