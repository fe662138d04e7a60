/** Splits a callback's uri into the origin to connect to and what to ask for there. */

export interface CallbackUri {
  /** Canonical: `http://receiver.example:8080`. */
  readonly origin: string;
  /** Path and query, starting with a slash. */
  readonly path: string;
}

/** What needs no normalising. Dot segments do; they are looked for apart. */
const plain =
  /^(https?:\/\/[a-z0-9.-]+(?::[0-9]+)?)(\/[\w\-.~!$&()*+,;=:@/%]*(?:\?[\w\-.~!$&()*+,;=:@/%?]+)?)?$/;

let newest: { readonly uri: string; readonly split: CallbackUri | null } = { uri: '', split: null };

/**
 * null when the uri is not absolute http or https, or carries credentials. `known` holds canonical origins from
 * earlier calls: with one of those the common uri costs one match instead of a whole parse.
 */
export function splitUri(uri: string, known: { has(origin: string): boolean }): CallbackUri | null {
  // Many pops in a row are for the same receiver, and each is asked about several times.
  if (uri !== newest.uri) newest = { uri, split: split(uri, known) };
  return newest.split;
}

function split(uri: string, known: { has(origin: string): boolean }): CallbackUri | null {
  const match = plain.exec(uri);
  if (match !== null) {
    const [, origin = '', path = '/'] = match;
    if (known.has(origin) && !path.includes('/.') && !path.includes('/%2')) return { origin, path };
  }
  const url = URL.parse(uri);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  return { origin: url.origin, path: url.pathname + url.search };
}
