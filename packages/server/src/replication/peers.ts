/**
 * Talking to the other members. Messages that are sent in one turn go to a peer as one frame, and one frame
 * answers them all.
 *
 * Two lanes per peer: `durable` for what is answered after a sync (stores, offers), `quick` for what
 * must not wait for one (claims, reads, hellos). Within a lane the order is kept.
 *
 * A peer is *silent* from its first unanswered frame until it answers again; who needs it acts at once
 * instead of waiting for another time-out.
 */
import { type Clock, invariant, type Log, type Network } from '@carillon/core';
import {
  type Answer,
  decodeAnswers,
  encodeMessages,
  type Message,
  protocol,
  protocolOf,
} from './wire.ts';
import type { Hello } from './wire-hello.ts';

export type Done = (answer: Answer | null) => void;

export interface PeersOptions {
  readonly self: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly network: Network;
  /** Where a member listens for peers; undefined when it is not in the view. */
  readonly addressOf: (name: string) => string | undefined;
  readonly onBack: (name: string) => void;
  readonly onFrame: (answered: boolean) => void;
}

type LaneName = 'quick' | 'durable';

interface Lane {
  readonly name: LaneName;
  readonly queue: { message: Message; done: Done }[];
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
  /** The highest that both sides understand, as far as is known: the lowest until its first hello, and when it falls silent. */
  protocol: number;
  /** When it last answered anything. */
  answeredMs: number;
  flushing: boolean;
}

const limitMs = { quick: 1000, durable: 5000 } as const;
const frameMessagesMax = 500;
const framesInFlightMax = 8;
/** Messages waiting for one peer; beyond that they count as unanswered. */
const queueLengthMax = 100_000;

export class Peers {
  private readonly options: PeersOptions;
  private readonly peers = new Map<string, Peer>();

  constructor(options: PeersOptions) {
    this.options = options;
  }

  /** Calls `done` exactly once; null: no answer, the peer may or may not have acted. */
  send(name: string, message: Message, done: Done): void {
    const peer = this.peer(name);
    const lane = peer.lanes[laneOf(message)];
    const refused =
      lane.queue.length >= queueLengthMax ||
      protocolOf(message) > peer.protocol ||
      this.options.addressOf(name) === undefined;
    if (refused) {
      this.options.clock.soon(() => done(null));
      return;
    }
    lane.queue.push({ message, done });
    this.flushSoon(peer);
  }

  silent(name: string): boolean {
    return this.silentSinceMs(name) !== null;
  }

  /** Since when a peer has not answered; null: it answers, or was never asked. */
  silentSinceMs(name: string): number | null {
    return this.peers.get(name)?.silentSinceMs ?? null;
  }

  /**
   * How long the oldest message that a peer has yet to confirm is the oldest: one that has much to do confirms one frame
   * after the other, and this stays small. 0: it owes nothing.
   */
  stalledMs(name: string): number {
    const lane = this.peers.get(name)?.lanes.durable;
    if (lane === undefined || lane.open.length === 0) return 0;
    return this.options.clock.now() - lane.headSinceMs;
  }

  /** Whether a peer that answers still has something to confirm. */
  get owed(): boolean {
    for (const { lanes, silentSinceMs } of this.peers.values()) {
      const { queue, open } = lanes.durable;
      if (silentSinceMs === null && queue.length + open.length > 0) return true;
    }
    return false;
  }

  /** Forgets members that have left the view. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.peers.keys()) if (!names.has(name)) this.peers.delete(name);
  }

  private peer(name: string): Peer {
    let peer = this.peers.get(name);
    if (peer === undefined) {
      const lanes = { quick: emptyLane('quick'), durable: emptyLane('durable') };
      peer = {
        name,
        lanes,
        silentSinceMs: null,
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
      this.flush(peer, peer.lanes.quick);
      this.flush(peer, peer.lanes.durable);
    });
  }

  private flush(peer: Peer, lane: Lane): void {
    while (lane.queue.length > 0 && lane.open.length < framesInFlightMax) {
      this.sendFrame(peer, lane, lane.queue.splice(0, frameMessagesMax));
    }
  }

  private sendFrame(peer: Peer, lane: Lane, batch: { message: Message; done: Done }[]): void {
    const { clock, network, addressOf, self } = this.options;
    const address = addressOf(peer.name);
    if (address === undefined) {
      for (const { done } of batch) done(null);
      return;
    }
    const sentMs = clock.now();
    const items = batch.map((item) => item.message);
    const frame = encodeMessages({ protocol: peer.protocol, from: self, items }, sentMs);
    const settled = inFlight(lane, clock);
    network.call(address, frame, limitMs[lane.name], (bytes) => {
      settled();
      const answers = bytes === null ? null : this.read(peer, bytes, batch.length);
      this.heard(peer, answers !== null, sentMs);
      for (const [i, { done }] of batch.entries()) done(answers?.[i] ?? null);
      this.flush(peer, lane);
    });
  }

  private read(peer: Peer, bytes: Uint8Array, count: number): readonly Answer[] | null {
    const { clock, log } = this.options;
    try {
      const { items } = decodeAnswers(bytes, clock.now());
      if (items.length === count) {
        for (const item of items) if (item.type === 'hello') learn(peer, item.hello);
        return items;
      }
      log.warn('A peer answered with the wrong number of answers.', { peer: peer.name });
    } catch (error) {
      log.warn('A peer answered with bytes that are not an answer.', {
        peer: peer.name,
        reason: String(error),
      });
    }
    return null;
  }

  private heard(peer: Peer, answered: boolean, sentMs: number): void {
    this.options.onFrame(answered);
    if (!answered) {
      // What was lost before its newest answer says nothing of it now.
      if (peer.answeredMs < sentMs) {
        peer.silentSinceMs ??= sentMs;
        // It may come back as an older release.
        peer.protocol = protocol.min;
      }
      return;
    }
    peer.answeredMs = this.options.clock.now();
    if (peer.silentSinceMs === null) return;
    peer.silentSinceMs = null;
    this.options.onBack(peer.name);
  }
}

function learn(peer: Peer, hello: Hello): void {
  peer.protocol = Math.max(protocol.min, Math.min(protocol.max, hello.protocolMax));
}

function emptyLane(name: LaneName): Lane {
  return { name, queue: [], open: [], lastFrame: 0, headSinceMs: 0 };
}

/** One more frame is under way; call what is returned when it is not. */
function inFlight(lane: Lane, clock: Clock): () => void {
  invariant(lane.open.length < framesInFlightMax, 'a peer has a bounded number of frames');
  const number = ++lane.lastFrame;
  if (lane.open.push(number) === 1) lane.headSinceMs = clock.now();
  return () => {
    const at = lane.open.indexOf(number);
    invariant(at >= 0, 'a frame is settled once');
    lane.open.splice(at, 1);
    if (at === 0) lane.headSinceMs = clock.now();
  };
}

function laneOf(message: Message): LaneName {
  return message.type === 'store' || message.type === 'offer' ? 'durable' : 'quick';
}
