/**
 * The calling end towards one peer: one connection, opened when it is needed, re-opened after a back-off, and every
 * call's `done` exactly once.
 *
 * - A call that cannot be made (back-off, too much waiting, too long) is answered with null in the next turn.
 * - When the connection ends, every call on it is answered with null at once: no answer can come any more.
 * - A peer that stays silent for `silentMs` while it owes answers is taken for half-open: the connection is dropped, so
 *   that the next call gets a fresh one. A single slow answer drops nothing.
 */
import type { Cancel, Clock, Log, Random } from '@carillon/core';
import type { Agreement } from './tcp-network-handshake.ts';
import type { Link, LinkEvents } from './tcp-network-link.ts';

export type Done = (answer: Uint8Array | null) => void;

export interface PeerOptions {
  readonly address: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Starts connecting. */
  readonly dial: (events: LinkEvents) => Link;
  readonly frameBytesMax: number;
  readonly waitingBytesMax: number;
  readonly callCountMax: number;
  readonly silentMs: number;
  readonly backoffMsMin: number;
  readonly backoffMsMax: number;
}

interface Call {
  readonly done: Done;
  readonly dueMs: number;
}

export class Peer {
  private readonly options: PeerOptions;
  private link: Link | null = null;
  private ready = false;
  /** Calls made while the connection is being opened. */
  private readonly early: { readonly id: number; readonly frame: Uint8Array }[] = [];
  private earlyBytes = 0;
  private readonly calls = new Map<number, Call>();
  private lastId = 0;
  private failureCount = 0;
  private backoffUntilMs = 0;
  /** Since when the peer owes an answer and nothing at all came from it. */
  private silentSinceMs: number | null = null;
  private alarm: { readonly atMs: number; readonly cancel: Cancel } | null = null;
  private loggedWhy = '';

  constructor(options: PeerOptions) {
    this.options = options;
  }

  /** Without a connection: nothing is lost by forgetting this peer, save its back-off. */
  get connected(): boolean {
    return this.link !== null;
  }

  call(frame: Uint8Array, limitMs: number, done: Done): void {
    const nowMs = this.options.clock.now();
    if (!this.takes(frame.length, nowMs)) {
      this.options.clock.soon(() => done(null));
      return;
    }
    const id = this.nextId();
    const dueMs = nowMs + limitMs;
    this.calls.set(id, { done, dueMs });
    this.silentSinceMs ??= nowMs;
    this.armAt(dueMs);
    this.link ??= this.dial();
    if (this.ready) {
      this.link.send(id, frame);
    } else {
      this.early.push({ id, frame: frame.slice() });
      this.earlyBytes += frame.length;
    }
  }

  close(): void {
    this.link?.end('This member is stopping.', false);
  }

  private takes(frameBytes: number, nowMs: number): boolean {
    const { log, address, frameBytesMax, waitingBytesMax, callCountMax } = this.options;
    if (frameBytes > frameBytesMax) {
      log.error('A frame is too long for a peer', { peer: address, frameBytes, frameBytesMax });
      return false;
    }
    if (this.link === null && nowMs < this.backoffUntilMs) return false;
    const waitingBytes = this.earlyBytes + (this.link?.waitingBytes ?? 0);
    // Something always fits an empty queue, however the two limits are set.
    const roomy = waitingBytes === 0 || waitingBytes + frameBytes <= waitingBytesMax;
    return roomy && this.calls.size < callCountMax;
  }

  private nextId(): number {
    this.lastId = (this.lastId + 1) >>> 0;
    return this.lastId;
  }

  private dial(): Link {
    this.ready = false;
    return this.options.dial({
      ready: (agreement) => this.opened(agreement),
      frame: (id, content) => this.answered(id, content),
      ended: (why, suspect) => this.ended(why, suspect),
    });
  }

  private opened({ protocol, release }: Agreement): void {
    const { log, address, clock } = this.options;
    // Who reads that a peer could not be reached wants to know when it could again.
    const level = this.loggedWhy === '' ? 'debug' : 'info';
    log[level]('Connected to a peer', { peer: address, protocol, release });
    this.ready = true;
    this.failureCount = 0;
    this.loggedWhy = '';
    this.silentSinceMs = this.calls.size > 0 ? clock.now() : null;
    for (const { id, frame } of this.early) {
      // What timed out meanwhile would only be work for nothing.
      if (this.calls.has(id)) this.link?.send(id, frame);
    }
    this.dropEarly();
  }

  private answered(id: number, content: Uint8Array): void {
    this.silentSinceMs = null;
    const call = this.calls.get(id);
    // Unknown: the answer came after its time.
    if (call === undefined) return;
    this.calls.delete(id);
    call.done(content);
  }

  private ended(why: string, suspect: boolean): void {
    const wasReady = this.ready;
    this.link = null;
    this.ready = false;
    this.silentSinceMs = null;
    this.dropEarly();
    this.alarm?.cancel();
    this.alarm = null;
    if (!wasReady) this.backOff();
    this.report(why, wasReady, suspect);
    const unanswered = [...this.calls.values()];
    this.calls.clear();
    for (const { done } of unanswered) done(null);
  }

  private dropEarly(): void {
    this.early.length = 0;
    this.earlyBytes = 0;
  }

  private backOff(): void {
    const { clock, random, backoffMsMin, backoffMsMax } = this.options;
    const fullMs = Math.min(backoffMsMax, backoffMsMin * 2 ** this.failureCount);
    this.failureCount = Math.min(this.failureCount + 1, 30);
    this.backoffUntilMs = clock.now() + fullMs * (0.5 + random.unit() / 2);
  }

  /** Once for each new reason, not once for each attempt. */
  private report(why: string, wasReady: boolean, suspect: boolean): void {
    const { log, address: peer } = this.options;
    if (why === this.loggedWhy) return;
    this.loggedWhy = why;
    if (suspect) log.warn('A peer was refused', { peer, why });
    else if (wasReady) log.debug('A connection to a peer ended', { peer, why });
    else log.warn('A peer cannot be reached', { peer, why });
  }

  private armAt(dueMs: number): void {
    if (this.alarm !== null && this.alarm.atMs <= dueMs) return;
    this.alarm?.cancel();
    this.alarm = { atMs: dueMs, cancel: this.options.clock.at(dueMs, () => this.sweep()) };
  }

  /** One alarm serves all calls: it stands at the earliest due time, and most calls are answered before. */
  private sweep(): void {
    this.alarm = null;
    const nowMs = this.options.clock.now();
    const late: Call[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [id, call] of this.calls) {
      if (call.dueMs > nowMs) {
        nextMs = Math.min(nextMs, call.dueMs);
      } else {
        this.calls.delete(id);
        late.push(call);
      }
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.armAt(nextMs);
    const silentMs = nowMs - (this.silentSinceMs ?? nowMs);
    if (late.length > 0 && this.ready && silentMs >= this.options.silentMs) {
      this.link?.end(`The peer has been silent for ${Math.round(silentMs)} ms.`, false);
    }
    for (const { done } of late) done(null);
  }
}
