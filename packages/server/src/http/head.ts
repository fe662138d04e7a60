/**
 * The head of a request, from its bytes: request line, headers, and the length of the body. Works on whole heads
 * only; the parser in `parser.ts` finds out where they end.
 *
 * H1  Bytes that two servers could read differently are refused, not repaired: there is one way to write a line end,
 *     a header, a length and a transfer coding.
 * H2  A head with a malformed line is refused as malformed before any other fault is looked at, in the words for the
 *     first such line: the same however much of the rest has arrived.
 * H3  The host of a target such as `http://host/path` takes the place of the header Host.
 */
import { headerName } from './names.ts';
import { HttpRefusal, refusals } from './refusal.ts';
import { colon, cr, lf, skip, space, tab, targetBytes, tokenBytes, valueBytes } from './syntax.ts';
import { splitTarget } from './target.ts';
import type { ApiRequest } from './message.ts';

/** Names in lower case; values of one name that came several times, with commas between them. */
export type HeaderValues = Record<string, string | undefined>;

/** No prototype, so that no name means anything but itself; and quicker to make than `Object.create(null)`. */
const Headers = function () {} as unknown as new () => HeaderValues;
Headers.prototype = Object.create(null);

/** A request without its body. The connection adds the body and the client's address. */
export interface RequestHead extends ApiRequest {
  readonly headers: HeaderValues;
  body: Uint8Array;
  remote: string;
  /** Length of the body; -1 when it comes in chunks. */
  readonly bodyBytes: number;
  /** The minor version: HTTP/1.0 or HTTP/1.1. */
  readonly minor: 0 | 1;
  /** The connection closes after this request. */
  readonly last: boolean;
}

const closing = /(?:^|[\t ,])close(?:$|[\t ,])/i;
const hostForm = /^[\w\-.~%!$&'()*+,;=:[\]]*$/;
/** `HTTP/1.`, as bytes. */
const versionBytes = Buffer.from('HTTP/1.');
const noBytes = Buffer.alloc(0);
const digitZero = 0x30;

export class HeadParser {
  private readonly headerCountMax: number;
  private bytes: Buffer = noBytes;
  private from = 0;
  private text = '';
  private at = 0;
  private target = '';
  /** The last good one: a client seldom means another. */
  private host = '';
  private method = '';
  private minor: 0 | 1 = 1;

  constructor(headerCountMax: number) {
    this.headerCountMax = headerCountMax;
  }

  /** `to` is where the CR LF CR LF begins that ends the head. */
  parse(bytes: Buffer, from: number, to: number): RequestHead | HttpRefusal {
    this.bytes = bytes;
    this.from = from;
    this.text = bytes.toString('latin1', from, to);
    this.at = from;
    const head = this.parsed(to);
    // An idle connection should not keep the bytes of its last request alive.
    this.bytes = noBytes;
    this.text = '';
    return head;
  }

  /** The refusal of an incomplete head with a byte before `to` that no head has there. */
  refusalOf(bytes: Buffer, from: number, to: number): HttpRefusal {
    const refusal = this.parse(bytes, from, to);
    return refusal instanceof HttpRefusal ? refusal : refusals.lineEnd;
  }

  private parsed(to: number): RequestHead | HttpRefusal {
    if (!this.requestLine()) return this.unclean() ?? refusals.requestLine;
    const headers = new Headers();
    let count = 0;
    for (; this.at < to; count++)
      if (!this.headerLine(headers)) return this.unclean() ?? refusals.headerLine;
    if (count > this.headerCountMax) return refusals.headersTooLarge;
    return this.framed(headers);
  }

  private requestLine(): boolean {
    const { bytes, at } = this;
    const methodEnd = skip(bytes, at, tokenBytes);
    if (methodEnd === at || bytes[methodEnd] !== space) return false;
    const targetEnd = skip(bytes, methodEnd + 1, targetBytes);
    if (targetEnd === methodEnd + 1 || bytes[targetEnd] !== space) return false;
    if (!this.version(targetEnd + 1)) return false;
    this.method = this.slice(at, methodEnd);
    this.target = this.slice(methodEnd + 1, targetEnd);
    return true;
  }

  private version(from: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < versionBytes.length; i++)
      if (bytes[from + i] !== versionBytes[i]) return false;
    const minor = bytes[from + versionBytes.length];
    if (minor !== 0x30 && minor !== 0x31) return false;
    this.minor = minor === 0x31 ? 1 : 0;
    return this.lineEnds(from + versionBytes.length + 1);
  }

  private headerLine(headers: HeaderValues): boolean {
    const { bytes, at } = this;
    const nameEnd = skip(bytes, at, tokenBytes);
    if (nameEnd === at || bytes[nameEnd] !== colon) return false;
    let valueFrom = nameEnd + 1;
    while (isBlank(bytes[valueFrom] as number)) valueFrom++;
    const lineEnd = skip(bytes, valueFrom, valueBytes);
    if (!this.lineEnds(lineEnd)) return false;
    const name = headerName(bytes, at, nameEnd);
    const isBehind = name === 'transfer-encoding' ? isSpace : isBlank;
    let valueEnd = lineEnd;
    while (valueEnd > valueFrom && isBehind(bytes[valueEnd - 1] as number)) valueEnd--;
    const value = this.slice(valueFrom, valueEnd);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    return true;
  }

  /** Whether the malformed line has no good end. */
  private unclean(): HttpRefusal | null {
    return this.lineEnds(skip(this.bytes, this.at, valueBytes)) ? null : refusals.lineEnd;
  }

  private lineEnds(at: number): boolean {
    if (this.bytes[at] !== cr || this.bytes[at + 1] !== lf) return false;
    this.at = at + 2;
    return true;
  }

  private slice(from: number, to: number): string {
    return this.text.substring(from - this.from, to - this.from);
  }

  private framed(headers: HeaderValues): RequestHead | HttpRefusal {
    const { method, minor } = this;
    const target = splitTarget(method, this.target);
    if (target === null) return refusals.target;
    const { host, connection } = headers as { host?: string; connection?: string };
    if (host === undefined && minor === 1) return refusals.hostMissing;
    // Two of them, joined by a comma and a blank, do not have the form of one.
    if (host !== undefined && host !== this.host) {
      if (!hostForm.test(host)) return refusals.host;
      this.host = host;
    }
    // RFC 9112 §3.2.2: rules about the Host, such as the one against DNS rebinding, are rules about this one.
    if (target.authority !== null) headers['host'] = target.authority;
    const bodyBytes = bodyBytesOf(headers, minor);
    if (typeof bodyBytes !== 'number') return bodyBytes;
    const last = minor === 0 || (connection !== undefined && closing.test(connection));
    const { path, query } = target;
    const body = noBytes;
    return { method, path, query, headers, body, remote: '', bodyBytes, minor, last };
  }
}

/** How long the body is (RFC 9112 §6.3); -1: chunked. Saying it twice is refused, even when both say the same. */
function bodyBytesOf(headers: HeaderValues, minor: 0 | 1): number | HttpRefusal {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    if (length !== undefined) return refusals.framing;
    return coding.toLowerCase() === 'chunked' && minor === 1 ? -1 : refusals.transferEncoding;
  }
  if (length === undefined) return 0;
  return wholeNumber(length) ?? refusals.length;
}

/** Null: not digits alone. So large that it is not exact: too large in any case. */
function wholeNumber(text: string): number | null {
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - digitZero;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return text === '' ? null : value;
}

/**
 * A blank behind a transfer coding. A tab is none: a server in front of Carillon that is built on node:http reads
 * "chunked" followed by a tab as another coding, and would see the body end elsewhere.
 */
function isSpace(byte: number): boolean {
  return byte === space;
}

function isBlank(byte: number): boolean {
  return byte === space || byte === tab;
}
