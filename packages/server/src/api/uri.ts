/** Which callback URIs a timer may have. Whether the address may be reached is decided at each attempt, elsewhere. */

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
// A last label that starts with a letter cannot be mistaken for a number; xn-- labels need a closer look.
const name = '(?:(?!xn--)[a-z0-9-]+\\.)*(?!xn--)[a-z][a-z0-9-]*';
const port = '(?:[1-9]\\d{0,3}|[1-5]\\d{4})';

/** The usual host, port and path. Everything else gets the full parser, which costs far more. */
const usual = new RegExp(
  `^https?://(?:${name}|${octet}(?:\\.${octet}){3})(?::${port})?(?:/[\\w\\-.~!$&'()*+,;=:@/%?]*)?$`,
);

/** Why this cannot be called back, as the end of "The uri …"; null when it can. */
export function refuseUri(uri: string): string | null {
  if (usual.test(uri)) return null;
  if (!/^https?:\/\//i.test(uri)) return 'must be an absolute http or https URI';
  if (!/^[\x21-\x7e]*$/.test(uri) || uri.includes('\\')) {
    return 'has characters that must be percent-encoded';
  }
  if (/^https?:\/\/[^/?#]*@/i.test(uri)) return 'must not carry credentials';
  const url = URL.parse(uri);
  if (url === null) return 'is not a valid URI';
  return url.port === '0' ? 'has port 0, where nobody listens' : null;
}
