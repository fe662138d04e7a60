/**
 * One connection that this member opened to a peer, with the calls made on it: every call's `done` exactly once.
 *
 * - When the connection ends, every call on it is answered with null at once: no answer can come any more.
 * - A peer that stays silent for `silentMs` while it owes answers is taken for half-open: the connection is dropped,
 *   so that the next call gets a fresh one. A single slow answer drops nothing.
 * - One that is retired takes no more calls and closes once the last of them is answered or given up: changing to
 *   another connection loses no call.
 */
import type { Cancel, Clock, FrameAnswered } from '@carillon/core';
import type { Agreement } from './handshake.ts';
import type { Link, LinkEvents } from './link.ts';
import type { PeerRefusalReason } from './refusals.ts';

export interface DialledOptions {
  readonly clock: Clock;
  /** Starts connecting. */
  readonly dial: (events: LinkEvents) => Link;
  readonly silentMs: number;
}

export interface DialledEvents {
  opened(agreement: Agreement): void;
  /** The peer asks for calls to go on another connection. */
  farewell(): void;
  ended(why: string, reason: PeerRefusalReason | null): void;
}

/** A frame from an acceptor under this id answers nothing: it asks for calls to go on another connection. */
export const farewellId = 0;

interface PeerCall {
  readonly done: FrameAnswered;
  readonly dueMs: number;
}

export class Dialled {
  private readonly options: DialledOptions;
  private readonly events: DialledEvents;
  private readonly link: Link;
  private isReady = false;
  private isRetired = false;
  /** Calls made while the connection is being opened. */
  private readonly early: { readonly id: number; readonly frame: Uint8Array }[] = [];
  private earlyBytes = 0;
  private readonly calls = new Map<number, PeerCall>();
  private lastId = farewellId;
  /** Since when the peer owes an answer and nothing at all came from it. */
  private silentSinceMs: number | null = null;
  private alarm: { readonly atMs: number; readonly cancel: Cancel } | null = null;

  constructor(options: DialledOptions, events: DialledEvents) {
    this.options = options;
    this.events = events;
    this.link = options.dial({
      ready: (agreement) => this.opened(agreement),
      frame: (id, content) => this.answered(id, content),
      ended: (why, reason) => this.ended(why, reason),
    });
  }

  get ready(): boolean {
    return this.isReady;
  }

  get callCount(): number {
    return this.calls.size;
  }

  /** Bytes that wait in this process for the peer to take them. */
  get waitingBytes(): number {
    return this.earlyBytes + this.link.waitingBytes;
  }

  call(frame: Uint8Array, limitMs: number, done: FrameAnswered): void {
    const nowMs = this.options.clock.now();
    const id = this.nextId();
    const dueMs = nowMs + limitMs;
    this.calls.set(id, { done, dueMs });
    this.silentSinceMs ??= nowMs;
    this.armAt(dueMs);
    if (this.isReady) {
      this.link.send(id, frame);
    } else {
      this.early.push({ id, frame: frame.slice() });
      this.earlyBytes += frame.length;
    }
  }

  retire(): void {
    this.isRetired = true;
    this.closeIfDone();
  }

  close(why: string): void {
    this.link.end(why);
  }

  private nextId(): number {
    this.lastId = (this.lastId + 1) >>> 0;
    if (this.lastId === farewellId) this.lastId++;
    return this.lastId;
  }

  private opened(agreement: Agreement): void {
    this.isReady = true;
    this.silentSinceMs = this.calls.size > 0 ? this.options.clock.now() : null;
    for (const { id, frame } of this.early) {
      // Calls that timed out meanwhile are not sent any more.
      if (this.calls.has(id)) this.link.send(id, frame);
    }
    this.dropEarly();
    this.events.opened(agreement);
  }

  private answered(id: number, content: Uint8Array): void {
    if (id === farewellId) {
      this.events.farewell();
      return;
    }
    this.silentSinceMs = null;
    const call = this.calls.get(id);
    // Unknown: the answer came after its time.
    if (call === undefined) return;
    this.calls.delete(id);
    call.done(content);
    this.closeIfDone();
  }

  private closeIfDone(): void {
    if (this.isRetired && this.calls.size === 0) this.link.end('Another connection replaced it.');
  }

  private ended(why: string, reason: PeerRefusalReason | null): void {
    this.dropEarly();
    this.alarm?.cancel();
    this.alarm = null;
    this.events.ended(why, reason);
    const unanswered = [...this.calls.values()];
    this.calls.clear();
    for (const { done } of unanswered) done(null);
  }

  private dropEarly(): void {
    this.early.length = 0;
    this.earlyBytes = 0;
  }

  private armAt(dueMs: number): void {
    if (this.alarm !== null && this.alarm.atMs <= dueMs) return;
    this.alarm?.cancel();
    const { clock } = this.options;
    // Answers that came while this member had no time are read before they count as late.
    this.alarm = { atMs: dueMs, cancel: clock.at(dueMs, () => clock.soon(() => this.sweep())) };
  }

  /** One alarm serves all calls: it stands at the earliest due time, and most calls are answered before. */
  private sweep(): void {
    this.alarm = null;
    const nowMs = this.options.clock.now();
    const late: PeerCall[] = [];
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
    if (late.length > 0 && this.isReady && silentMs >= this.options.silentMs) {
      this.link.end(`The peer has been silent for ${Math.round(silentMs)} ms.`);
    }
    for (const { done } of late) done(null);
    this.closeIfDone();
  }
}
