/** Which callback URIs a timer may have. Whether the address may be reached is decided at each attempt, elsewhere. */
import { isIPv4 } from 'node:net';

/** The usual host, port and path. Everything else gets the full parser, which costs far more. */
const usual =
  /^https?:\/\/([a-z0-9.-]+)(?::(?:[1-5]\d{0,4}|[6-9]\d{0,3}))?(?:\/[\w\-.~!$&'()*+,;=:@/%?]*)?$/;

/** Why this cannot be called back, as the end of "The uri …"; null when it can. */
export function refuseUri(uri: string): string | null {
  const host = usual.exec(uri)?.[1];
  if (host !== undefined && isUsualHost(host)) return null;
  if (!/^https?:\/\//i.test(uri)) return 'must be an absolute http or https URI';
  if (!/^[\x21-\x7e]*$/.test(uri) || uri.includes('\\')) {
    return 'has characters that must be percent-encoded';
  }
  if (/^https?:\/\/[^/?#@]*@/i.test(uri)) return 'must not carry credentials';
  const url = URL.parse(uri);
  if (url === null) return 'is not a valid URI';
  return url.port === '0' ? 'has port 0, where no server listens' : null;
}

/** A last label that starts with a letter cannot be mistaken for a number; xn-- labels need a closer look. */
function isUsualHost(host: string): boolean {
  const first = host.charCodeAt(host.lastIndexOf('.') + 1);
  if (first < 0x61) return isIPv4(host);
  return !host.startsWith('.') && !host.includes('..') && !host.includes('xn--');
}
