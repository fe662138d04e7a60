/** Answers as the text that goes over the wire. Pure: the connection decides when. */
import { STATUS_CODES } from 'node:http';
import type { ApiResponse } from './message.ts';

/** The properties of a request that decide how its answer is written. */
export interface Asked {
  readonly method: string;
  readonly minor: 0 | 1;
  readonly requestId: string;
  /** The connection closes after this answer. */
  readonly last: boolean;
}

/** Header lines that all answers share. */
export interface CommonHeaders {
  /** Headers of an answer after which the connection stays open (keep-alive). */
  readonly kept: string;
  /** Headers of the last answer of a connection. */
  readonly last: string;
}

/** How the end of an answer that goes on is told: by its length, by chunks, or by the end of the connection. */
export type Framing = 'length' | 'chunks' | 'close';

export const continueText = 'HTTP/1.1 100 Continue\r\n\r\n';

const statusLines = new Map<number, string>();
for (const [status, words] of Object.entries(STATUS_CODES)) {
  statusLines.set(Number(status), `HTTP/1.1 ${status} ${words}\r\n`);
}

const unfit = /[^\t\x20-\x7e]/;

/**
 * Whether the headers can be written: a line end in a value would begin another answer. Their names are never made up.
 */
export function isFit({ headers }: ApiResponse): boolean {
  for (let i = 1; i < headers.length; i += 2) if (unfit.test(headers[i] as string)) return false;
  return true;
}

/** A whole answer. */
export function responseText(response: ApiResponse, asked: Asked, common: CommonHeaders): string {
  const { status, body } = response;
  const head = headText(response, asked, common);
  if (status === 204 || status === 304) return `${head}\r\n`;
  const lengthBytes = body === '' ? 0 : Buffer.byteLength(body);
  const whole = `${head}content-length: ${lengthBytes}\r\n\r\n`;
  return asked.method === 'HEAD' ? whole : whole + body;
}

/** The head of an answer whose body is written piece by piece. */
export function streamHeadText(
  response: ApiResponse,
  asked: Asked,
  common: CommonHeaders,
): { readonly text: string; readonly framing: Framing } {
  const framing = framingOf(response, asked);
  const head = headText(response, asked, common);
  const coding = framing === 'chunks' ? 'transfer-encoding: chunked\r\n' : '';
  return { text: `${head}${coding}\r\n`, framing };
}

function framingOf({ headers }: ApiResponse, { minor }: Asked): Framing {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-length') return 'length';
  return minor === 1 ? 'chunks' : 'close';
}

function headText({ status, headers }: ApiResponse, asked: Asked, common: CommonHeaders): string {
  let text = statusLines.get(status) ?? `HTTP/1.1 ${status} \r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}x-request-id: ${asked.requestId}\r\n${asked.last ? common.last : common.kept}`;
}
