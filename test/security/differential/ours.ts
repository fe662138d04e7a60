/** Bytes from clients and from receivers as Carillon reads them, in a form that can be compared with node:http. */
import {
  AnswerParser,
  type Progress,
} from '../../../packages/server/src/callback/answers/answer-parser.ts';
import { defaultConfig } from '../../../packages/server/src/config/config.ts';
import type { RequestHead } from '../../../packages/server/src/http/head.ts';
import { HttpParser } from '../../../packages/server/src/http/parser.ts';
import { bodyTooLarge, refusals } from '../../../packages/server/src/http/refusal.ts';

const bodyBytesMax = 1 << 20;

export interface ReadRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** By name in lower case; of several, with commas between them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  body: string;
  complete: boolean;
}

export interface ReadRequests {
  readonly requests: ReadRequest[];
  /** open: more may come. closed: the last request said that nothing follows. refused: the bytes are no request. */
  end: 'open' | 'closed' | 'refused';
  /** Of a refusal. */
  why: string;
}

/** As a connection of the API does, without the limits that depend on the route. */
export function requestsIn(pieces: readonly Buffer[]): ReadRequests {
  const parser = new HttpParser(defaultConfig.limits);
  const all: ReadRequests = { requests: [], end: 'open', why: '' };
  let last = false;
  for (const piece of pieces) {
    parser.push(piece);
    for (let step = parser.next(); step !== 'more'; step = parser.next()) {
      const current = all.requests.at(-1);
      if (step === 'head') {
        const { head } = parser;
        last = head.last;
        const why = refusedByConnection(head);
        if (why !== null) return { ...all, end: 'refused', why };
        parser.bodyBytesMax = bodyBytesMax;
        const { method, path, query, headers } = head;
        all.requests.push({ method, path, query, headers, body: '', complete: false });
      } else if (step === 'refused') return { ...all, end: 'refused', why: wordsOf(parser) };
      else if (current === undefined) throw new Error(`${step} before a head`);
      else if (step === 'piece') current.body += parser.piece.toString('latin1');
      else {
        current.complete = true;
        if (last) return { ...all, end: 'closed' };
      }
    }
  }
  return all;
}

function refusedByConnection({ method, bodyBytes }: RequestHead): string | null {
  if (method === 'CONNECT') return detailOf(refusals.proxy.response.body);
  return bodyBytes > bodyBytesMax ? detailOf(bodyTooLarge(bodyBytesMax).response.body) : null;
}

function wordsOf(parser: HttpParser): string {
  return detailOf(parser.refused.response.body);
}

function detailOf(body: string): string {
  return (JSON.parse(body) as { detail: string }).detail;
}

export interface OurAnswer {
  readonly progress: Progress;
  readonly status: number;
  /** Whether the connection would be used again. */
  readonly keeps: boolean;
  readonly retryAfter: string | undefined;
}

/** As a connection to a receiver does: bytes behind an answer end the connection. */
export function answerIn(pieces: readonly Buffer[], method: string): OurAnswer {
  const parser = new AnswerParser(method);
  let progress: Progress = 'more';
  let used = 0;
  for (const piece of pieces) {
    progress = parser.push(piece);
    used++;
    if (progress !== 'more') break;
  }
  const { status, retryAfter } = parser.answer;
  const behind = pieces.slice(used).some((piece) => piece.length > 0);
  return { progress, status, retryAfter, keeps: parser.keeps && progress === 'whole' && !behind };
}

/** The line that a status was taken from. */
export function statusLineIn(input: Buffer, method: string): Buffer {
  const parser = new AnswerParser(method);
  for (let from = 0; from < input.length; ) {
    const to = input.indexOf('\n', from) + 1;
    const line = input.subarray(from, to === 0 ? input.length : to);
    parser.push(line);
    if (parser.status !== 0) return line;
    from += line.length;
  }
  throw new Error('There is no status.');
}
