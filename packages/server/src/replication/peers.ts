/**
 * Talking to the other members. Messages that are sent in one turn of the event loop go to a peer as one frame, and
 * one frame answers them all. Frames are bounded in messages and in bytes.
 *
 * Lanes per peer, each with frames of its own, so that nothing waits for an answer of another kind: `quick` for
 * messages that pops wait for (claims, hellos), `durable` for messages that are answered after a sync (stores, offers),
 * `large` for stores and offers of long records, `reads` for single records, and `bulk` for answers that a peer has to
 * search for (lists, comparisons). Long frames, and frames with long answers, go on a connection of their own: a claim
 * behind 8 MiB of records would wait for 0.7 s at 100 Mbit/s.
 *
 * A peer is *silent* from its first unanswered frame until it answers again; code that needs it acts at once instead
 * of waiting for another time-out, or asks `stillSinceMs` where acting at once may be wrong. An unanswered read says
 * nothing: hellos tell whether the peer is there. A peer that has been silent for seconds is not asked for its part of
 * a list, which would keep every page waiting for it.
 */
import { type Clock, invariant, type Log, type Network } from '@carillon/core';
import { frameBytesMax, largeBytesMin, lightBytesMax, messageBytes } from './sizes.ts';
import { Silences } from './silences.ts';
import type { Answer } from './wire/answer.ts';
import { decodeAnswers, type DelayOf, encodeMessages, protocol } from './wire/frame.ts';
import { isKnownTo, type Message } from './wire/message.ts';
import type { Hello } from './wire/hello.ts';
import { momentOf } from './wire/parts.ts';

export type MessageAnswered = (answer: Answer | null) => void;

export interface PeersOptions {
  readonly self: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly network: Network;
  /** Where a member listens for peers; undefined when it is not in the view. */
  readonly addressOf: (name: string) => string | undefined;
  /** Messages that wait for one peer in one lane; messages beyond that count as unanswered. */
  readonly queueLengthMax: number;
  readonly delayOf: DelayOf;
  readonly onBack: (name: string) => void;
  readonly onFrame: (answered: boolean) => void;
}

type LaneName = 'quick' | 'durable' | 'large' | 'reads' | 'bulk';

interface Sent {
  readonly message: Message;
  readonly done: MessageAnswered;
  readonly bytes: number;
}

interface Lane {
  readonly name: LaneName;
  readonly queue: Sent[];
  queueBytes: number;
  /** Frames in flight by the order they were sent in. */
  readonly open: number[];
  lastFrame: number;
  /** Since when the first of them is the first. */
  headSinceMs: number;
}

interface Peer {
  readonly name: string;
  readonly lanes: Record<LaneName, Lane>;
  silentSinceMs: number | null;
  /** The last frame to it was refused at once: no process listens there. */
  isGone: boolean;
  /** The highest that both sides understand, as far as is known: the lowest until its first hello. */
  protocol: number;
  /** When it last answered anything. */
  answeredMs: number;
  flushing: boolean;
}

interface LaneRules {
  readonly limitMs: number;
  readonly frameMessagesMax: number;
  readonly framesInFlightMax: number;
  /** To a peer that stands still. */
  readonly framesStalledMax: number;
  /** Whether a peer that does not answer counts as silent. */
  readonly tells: boolean;
  /** Longer frames travel beside the others. */
  readonly lightBytesMax: number;
}

const rules: Readonly<Record<LaneName, LaneRules>> = {
  quick: {
    limitMs: 1000,
    frameMessagesMax: 500,
    framesInFlightMax: 8,
    framesStalledMax: 64,
    tells: true,
    lightBytesMax: Number.POSITIVE_INFINITY,
  },
  // A batch of 8 MiB: with less under way it would wait for several syncs, one after the other.
  durable: {
    limitMs: 5000,
    frameMessagesMax: 500,
    framesInFlightMax: 32,
    framesStalledMax: 256,
    tells: true,
    lightBytesMax,
  },
  // Apart from the short ones, so that these wait neither for a frame under way nor in a queue of megabytes.
  large: {
    limitMs: 5000,
    frameMessagesMax: 500,
    framesInFlightMax: 32,
    framesStalledMax: 256,
    tells: true,
    lightBytesMax: 0,
  },
  reads: {
    limitMs: 1000,
    frameMessagesMax: 500,
    framesInFlightMax: 4,
    framesStalledMax: 4,
    tells: false,
    lightBytesMax: 0,
  },
  // One message a frame: a search that takes long holds up no other.
  bulk: {
    limitMs: 2000,
    frameMessagesMax: 1,
    framesInFlightMax: 2,
    framesStalledMax: 2,
    tells: false,
    lightBytesMax: 0,
  },
};
/** After this long without an answer to the oldest frame a peer counts as one that stands still. */
const stalledMs = 100;
const laneNames = Object.keys(rules) as LaneName[];
/** Lanes whose messages are answered when they are on disk. */
const confirming = ['durable', 'large'] as const;
/** A frame that was given up sooner after it was sent than this: the machine of the peer refused it. */
const atOnceMs = 50;
/** After this long a silent peer is not asked for its part of a list. */
const awayMs = 3000;
/** Bytes of the messages that wait for one peer; messages beyond that count as unanswered. */
const queueBytesMax = 256 * 1024 * 1024;

export class Peers {
  private readonly options: PeersOptions;
  private readonly peers = new Map<string, Peer>();
  private readonly silences = new Silences();

  constructor(options: PeersOptions) {
    this.options = options;
  }

  /**
   * Calls `done` exactly once; null: no answer, the peer may or may not have acted. A message that the peer's release
   * does not know is not sent and has no answer; before its first hello a peer counts as one of the oldest release.
   */
  send(name: string, message: Message, done: MessageAnswered): void {
    const peer = this.peer(name);
    const bytes = messageBytes(message);
    const lane = peer.lanes[laneOf(message, bytes)];
    const refused =
      lane.queue.length >= this.options.queueLengthMax ||
      lane.queueBytes >= queueBytesMax ||
      this.options.addressOf(name) === undefined ||
      (parts.has(message.type) && this.isAway(peer));
    if (refused) {
      this.options.clock.soon(() => done(null));
      return;
    }
    lane.queue.push({ message, done, bytes });
    lane.queueBytes += bytes;
    this.flushSoon(peer);
  }

  silent(name: string): boolean {
    return this.silentSinceMs(name) !== null;
  }

  /** A peer that merely stood still would have answered a hello by now. */
  private isAway({ silentSinceMs }: Peer): boolean {
    return silentSinceMs !== null && this.options.clock.now() - silentSinceMs > awayMs;
  }

  /** Since when a peer has not answered; null: it answers, or was never asked. */
  silentSinceMs(name: string): number | null {
    return this.peers.get(name)?.silentSinceMs ?? null;
  }

  /**
   * Since when a peer that owes an answer may merely stand still, for want of a processor; null: no process listens
   * there.
   */
  stillSinceMs(name: string): number | null {
    const peer = this.peers.get(name);
    if (peer?.isGone === true) return null;
    return peer?.silentSinceMs ?? this.options.clock.now();
  }

  /** Peers that are silent, or were for a second or longer until this moment or later. */
  silentLately(sinceMs: number): string[] {
    const silent = [...this.peers.keys()].filter((name) => this.silent(name));
    return [...new Set([...silent, ...this.silences.namesSince(sinceMs)])];
  }

  /** Whether a peer has answered anything after this moment. */
  answeredSince(name: string, ms: number): boolean {
    return (this.peers.get(name)?.answeredMs ?? Number.NEGATIVE_INFINITY) > ms;
  }

  /**
   * How long a peer has confirmed nothing although it owes a confirmation; 0: it owes none. Stays small for a busy
   * peer, which confirms one frame after the other, however long its queue is.
   */
  stalledMs(name: string): number {
    const lanes = this.peers.get(name)?.lanes;
    if (lanes === undefined) return 0;
    const nowMs = this.options.clock.now();
    return Math.max(...confirming.map((lane) => waitedMs(lanes[lane], nowMs)));
  }

  /** Whether a peer that answers still has something to confirm. */
  get owed(): boolean {
    for (const { lanes, silentSinceMs } of this.peers.values()) {
      const owes = confirming.some(
        (lane) => lanes[lane].queue.length + lanes[lane].open.length > 0,
      );
      if (silentSinceMs === null && owes) return true;
    }
    return false;
  }

  /** Forgets members that have left the view. */
  retain(names: ReadonlySet<string>): void {
    for (const peer of this.peers.values()) {
      if (names.has(peer.name)) continue;
      this.noteSilence(peer);
      this.peers.delete(peer.name);
    }
  }

  /** A peer that has never answered was not there yet. */
  private noteSilence({ name, silentSinceMs, answeredMs }: Peer): void {
    if (silentSinceMs !== null && answeredMs > Number.NEGATIVE_INFINITY)
      this.silences.ended(name, silentSinceMs, this.options.clock.now());
  }

  private peer(name: string): Peer {
    let peer = this.peers.get(name);
    if (peer === undefined) {
      const lanes = {
        quick: emptyLane('quick'),
        durable: emptyLane('durable'),
        large: emptyLane('large'),
        reads: emptyLane('reads'),
        bulk: emptyLane('bulk'),
      };
      peer = {
        name,
        lanes,
        silentSinceMs: null,
        isGone: false,
        protocol: protocol.min,
        answeredMs: Number.NEGATIVE_INFINITY,
        flushing: false,
      };
      this.peers.set(name, peer);
    }
    return peer;
  }

  private flushSoon(peer: Peer): void {
    if (peer.flushing) return;
    peer.flushing = true;
    this.options.clock.soon(() => {
      peer.flushing = false;
      for (const name of laneNames) this.flush(peer, peer.lanes[name]);
    });
  }

  private flush(peer: Peer, lane: Lane): void {
    const { clock } = this.options;
    while (lane.queue.length > 0 && lane.open.length < framesMax(lane, clock.now())) {
      this.sendFrame(peer, lane, takeFrame(lane));
    }
  }

  private sendFrame(peer: Peer, lane: Lane, taken: readonly Sent[]): void {
    const { clock, network, addressOf, self } = this.options;
    const address = addressOf(peer.name);
    if (address === undefined) {
      for (const { done } of taken) done(null);
      return;
    }
    const spoken = protocolOf(peer, taken);
    const batch = spoken === protocol.max ? taken : onlyKnown(taken, spoken);
    if (batch.length === 0) return;
    const sentMs = clock.now();
    const items = batch.map((item) => item.message);
    const at = { nowMs: sentMs, wallMs: clock.wall() };
    const frame = encodeMessages({ protocol: spoken, from: self, items }, at);
    const settled = inFlight(lane, clock);
    const { limitMs, tells, lightBytesMax: lightMax } = rules[lane.name];
    const terms = { limitMs, isHeavy: frame.length > lightMax };
    network.call(address, frame, terms, (bytes) => {
      settled();
      const answers = bytes === null ? null : this.read(peer, bytes, batch.length);
      if (answers !== null || tells) this.heard(peer, answers !== null, sentMs);
      else this.options.onFrame(false);
      settle(lane, batch, answers);
      this.flush(peer, lane);
    });
  }

  private read(peer: Peer, bytes: Uint8Array, count: number): readonly Answer[] | null {
    const { clock, log, delayOf } = this.options;
    try {
      const { items } = decodeAnswers(bytes, momentOf(clock), delayOf);
      // The first record of a frame always fits.
      const progresses = items.some(({ type }) => type !== 'later');
      if (items.length === count && progresses) {
        for (const item of items) if (item.type === 'hello') learn(peer, item.hello);
        return items;
      }
      log.warn('A peer answered with the wrong number of answers.', {
        event: 'answers-miscounted',
        peer: peer.name,
      });
    } catch (error) {
      log.warn('A peer answered with bytes that are not an answer.', {
        event: 'answer-malformed',
        peer: peer.name,
        reason: String(error),
      });
    }
    return null;
  }

  private heard(peer: Peer, answered: boolean, sentMs: number): void {
    const { clock, onFrame } = this.options;
    onFrame(answered);
    peer.isGone = !answered && clock.now() - sentMs < atOnceMs;
    if (!answered) {
      // A frame that was lost before the peer's newest answer says nothing of the peer now.
      if (peer.answeredMs < sentMs) peer.silentSinceMs ??= sentMs;
      return;
    }
    this.noteSilence(peer);
    peer.answeredMs = clock.now();
    if (peer.silentSinceMs === null) return;
    peer.silentSinceMs = null;
    this.options.onBack(peer.name);
  }
}

/**
 * A silent peer may come back as an older release, so hellos to it are for the oldest. Other frames are not: most
 * silent peers merely stand still, and a claim of the oldest release does not say when its pop is due, which a member
 * that reads it late must know.
 */
function protocolOf(peer: Peer, batch: readonly Sent[]): number {
  if (peer.silentSinceMs === null) return peer.protocol;
  return batch.some(({ message }) => message.type === 'hello') ? protocol.min : peer.protocol;
}

function learn(peer: Peer, hello: Hello): void {
  peer.protocol = Math.max(protocol.min, Math.min(protocol.max, hello.protocolMax));
}

/** How long the oldest frame of a lane is the oldest; 0: there is none. */
function waitedMs({ open, headSinceMs }: Lane, nowMs: number): number {
  return open.length === 0 ? 0 : nowMs - headSinceMs;
}

function emptyLane(name: LaneName): Lane {
  return { name, queue: [], queueBytes: 0, open: [], lastFrame: 0, headSinceMs: 0 };
}

/** The first messages of a lane, as many as fit; at least one. */
function takeFrame(lane: Lane): readonly Sent[] {
  const { frameMessagesMax } = rules[lane.name];
  let count = 0;
  let bytes = 0;
  for (const item of lane.queue) {
    if (count === frameMessagesMax || (count > 0 && bytes + item.bytes > frameBytesMax)) break;
    bytes += item.bytes;
    count++;
  }
  lane.queueBytes -= bytes;
  return lane.queue.splice(0, count);
}

/** The messages that the release of a peer knows; the others have no answer. */
function onlyKnown(taken: readonly Sent[], known: number): readonly Sent[] {
  return taken.filter(({ message, done }) => {
    const isKnown = isKnownTo(known, message);
    if (!isKnown) done(null);
    return isKnown;
  });
}

/** Hands out the answers; messages whose answer did not fit into the frame go again, before later ones. */
function settle(lane: Lane, batch: readonly Sent[], answers: readonly Answer[] | null): void {
  const again: Sent[] = [];
  for (let i = 0; i < batch.length; i++) {
    const item = batch[i] as Sent;
    const answer = answers?.[i] ?? null;
    if (answer?.type === 'later') again.push(item);
    else item.done(answer);
  }
  for (const { bytes } of again) lane.queueBytes += bytes;
  lane.queue.unshift(...again);
}

/**
 * A peer that answers has few frames under way, so that the rest goes together. One that stands still is sent more:
 * they lie in its socket, and the first thing it does when it goes on is to read the news of its timers.
 */
function framesMax(lane: Lane, nowMs: number): number {
  const { framesInFlightMax, framesStalledMax } = rules[lane.name];
  const isStalled = lane.open.length > 0 && nowMs - lane.headSinceMs > stalledMs;
  return isStalled ? framesStalledMax : framesInFlightMax;
}

/** One more frame is under way; the returned function is to be called when it is not. */
function inFlight(lane: Lane, clock: Clock): () => void {
  invariant(
    lane.open.length < framesMax(lane, clock.now()),
    'a peer has a bounded number of frames',
  );
  const number = ++lane.lastFrame;
  if (lane.open.push(number) === 1) lane.headSinceMs = clock.now();
  return () => {
    const at = lane.open.indexOf(number);
    invariant(at >= 0, 'a frame is settled once');
    lane.open.splice(at, 1);
    if (at === 0) lane.headSinceMs = clock.now();
  };
}

/** Questions whose answer is gathered from all members, and is told without the part of a silent one. */
const parts: ReadonlySet<Message['type']> = new Set([
  'list',
  'tally',
  'attempts',
  'history',
  'erase',
  'facts',
  'search',
  'details',
]);

const bulky: ReadonlySet<Message['type']> = new Set([
  'list',
  'tally',
  'digest',
  'range',
  'history',
  'erase',
  'search',
  'details',
]);

function laneOf({ type }: Message, bytes: number): LaneName {
  if (type === 'store' || type === 'offer') return bytes >= largeBytesMin ? 'large' : 'durable';
  if (type === 'read') return 'reads';
  return bulky.has(type) ? 'bulk' : 'quick';
}
