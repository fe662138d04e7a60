/**
 * The state that all connections of a listener share: limits, room for bodies and answers, request ids, and the time
 * and the headers as of the last sweep.
 */
import type { Clock, Random } from '@carillon/core';
import type { Limits } from '../config/config.ts';
import type { RequestHead } from './head.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import type { CommonHeaders } from './response.ts';
import { AnswerRoom } from './room/answer-room.ts';
import { BodyRoom } from './room/body-room.ts';

/** Questions about a request before its body is read; the router of the API answers. */
export interface RequestRules {
  /** How large a body may be. */
  bodyBytesMax(method: string, path: string): number;
  /** The answer to a request whose body need not be read; null: read it. */
  refuseEarly(request: ApiRequest): ApiResponse | null;
  /** Whether the request may take many turns, and its answer be long. */
  isLong(method: string, path: string): boolean;
  /** Whose request it is, for the turns of clients: the same for all requests of a namespace, or of a token. */
  partyOf(request: ApiRequest): string;
}

export interface ListenerStateParts {
  readonly rules: RequestRules;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether connections are encrypted. */
  readonly secure: boolean;
}

/** Browsers that came here once come back by TLS only. */
const strictTransport = 'strict-transport-security: max-age=31536000\r\n';
/** Browsers never take text of a client in an answer for a page or a script. */
const asDeclared = 'x-content-type-options: nosniff\r\n';
const requestIdForm = /^[\x21-\x7e]{1,128}$/;

export class ListenerState {
  readonly rules: RequestRules;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly bodyRoom: BodyRoom;
  readonly answerRoom: AnswerRoom;
  /** The monotonic clock as of the last sweep: near enough for time-outs. */
  nowMs = 0;
  commonHeaders: CommonHeaders = { kept: '', last: '' };
  /** Each connection ends with the answer under way. */
  stopping = false;
  /** Headers that are the same in every answer. */
  private readonly fixedHeaders: CommonHeaders;
  private readonly idPrefix: string;
  private idCounter = 0;

  constructor({ rules, limits, clock, random, secure }: ListenerStateParts) {
    this.rules = rules;
    this.limits = limits;
    this.clock = clock;
    this.bodyRoom = new BodyRoom(limits.bufferedBytesMax);
    this.answerRoom = new AnswerRoom(limits.answerBytesMax);
    this.fixedHeaders = fixedHeaders(secure, limits.idleTimeoutMs);
    this.idPrefix = `${random.u32().toString(36)}-`;
  }

  /** Takes the time and writes the date. */
  renew(): void {
    const { clock } = this;
    this.nowMs = clock.now();
    const date = `date: ${new Date(clock.wall()).toUTCString()}\r\n`;
    const { kept, last } = this.fixedHeaders;
    this.commonHeaders = { kept: date + kept, last: date + last };
  }

  /** The id that the client gave the request, or a new one. */
  requestId(head: RequestHead | null): string {
    const given = head?.headers['x-request-id'];
    if (given !== undefined && requestIdForm.test(given)) return given;
    return this.idPrefix + (this.idCounter++).toString(36);
  }
}

/** With how long an idle connection stays, so that clients use it as long, and let go of it first. */
function fixedHeaders(secure: boolean, idleTimeoutMs: number): CommonHeaders {
  const always = secure ? asDeclared + strictTransport : asDeclared;
  const idleSeconds = Math.floor(idleTimeoutMs / 1000);
  const hint = idleSeconds === 0 ? '' : `keep-alive: timeout=${idleSeconds}\r\n`;
  return { kept: always + hint, last: `${always}connection: close\r\n` };
}
