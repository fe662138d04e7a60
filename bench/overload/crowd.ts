/**
 * The process that asks for too much: many connections, so many sets a second whether they are answered or not.
 * Written by hand, as one core has to ask for several times as much as the other can answer. A set that finds all
 * connections full is offered but never sent.
 */
import { connect, type Socket } from 'node:net';
import { answerCalls } from '../support/remote.ts';

export interface Offer {
  readonly url: string;
  readonly body: string;
  /** 0: each connection asks again when it is answered. */
  readonly perSecond: number;
  readonly connections: number;
}

/** Counts since the last question. */
export interface Second {
  readonly offered: number;
  readonly sent: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** From sending to the answer; null: there were none. */
  readonly waitP50Ms: number | null;
  readonly waitP99Ms: number | null;
}

const pipelinedMax = 8;
const tickMs = 5;
const statusMark = 'HTTP/1.1 ';

class Crowd {
  private readonly offer: Offer;
  private readonly request: string;
  private readonly askers: Asker[];
  private readonly startMs = performance.now();
  private issued = 0;
  private turn = 0;
  private interval: NodeJS.Timeout | null = null;
  private offered = 0;
  private sent = 0;
  private byStatus: Record<string, number> = {};
  private waits: number[] = [];

  constructor(offer: Offer) {
    this.offer = offer;
    const { host } = new URL(offer.url);
    const length = Buffer.byteLength(offer.body);
    this.request = `POST /timers HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${offer.body}`;
    this.askers = Array.from(
      { length: offer.connections },
      () => new Asker(offer.url, (asker, status, waitMs) => this.answered(asker, status, waitMs)),
    );
  }

  start(): void {
    if (this.offer.perSecond > 0) this.interval = setInterval(() => this.tick(), tickMs);
    else for (const asker of this.askers) this.send(asker, 1);
  }

  take(): Second {
    const sorted = Float64Array.from(this.waits).toSorted();
    const at = (share: number): number | null => sorted[Math.floor(sorted.length * share)] ?? null;
    const { offered, sent, byStatus } = this;
    this.offered = 0;
    this.sent = 0;
    this.byStatus = {};
    this.waits = [];
    return { offered, sent, byStatus, waitP50Ms: at(0.5), waitP99Ms: at(0.99) };
  }

  stop(): void {
    if (this.interval !== null) clearInterval(this.interval);
    for (const asker of this.askers) asker.end();
  }

  private tick(): void {
    const { perSecond } = this.offer;
    const due = Math.floor(((performance.now() - this.startMs) * perSecond) / 1000) - this.issued;
    this.issued += due;
    this.offered += due;
    // Several to one connection at once cost one write.
    let left = due;
    for (let i = 0; i < this.askers.length && left > 0; i++) {
      const asker = this.askers[this.turn++ % this.askers.length] as Asker;
      const count = Math.min(left, pipelinedMax - asker.waiting);
      if (count > 0) this.send(asker, count);
      left -= Math.max(0, count);
    }
  }

  private send(asker: Asker, count: number): void {
    this.sent += count;
    if (this.offer.perSecond === 0) this.offered += count;
    asker.send(this.request, count);
  }

  private answered(asker: Asker, status: string, waitMs: number): void {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    this.waits.push(waitMs);
    if (this.offer.perSecond === 0) this.send(asker, 1);
  }
}

/** One connection, opened anew when it is closed. */
class Asker {
  private socket: Socket;
  private readonly url: URL;
  private readonly answered: (asker: Asker, status: string, waitMs: number) => void;
  private sentMs: number[] = [];
  private tail = '';
  private ended = false;

  constructor(url: string, answered: (asker: Asker, status: string, waitMs: number) => void) {
    this.url = new URL(url);
    this.answered = answered;
    this.socket = this.open();
  }

  get waiting(): number {
    return this.sentMs.length;
  }

  send(request: string, count: number): void {
    const nowMs = performance.now();
    for (let i = 0; i < count; i++) this.sentMs.push(nowMs);
    this.socket.write(count === 1 ? request : request.repeat(count), 'latin1');
  }

  end(): void {
    this.ended = true;
    this.socket.destroy();
  }

  private open(): Socket {
    const { hostname, port } = this.url;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.took(text));
    socket.on('error', () => {});
    socket.on('close', () => this.closed());
    return socket;
  }

  private closed(): void {
    if (this.ended) return;
    const lost = this.sentMs;
    this.sentMs = [];
    this.tail = '';
    this.socket = this.open();
    for (const sentMs of lost) this.answered(this, 'cut', performance.now() - sentMs);
  }

  private took(text: string): void {
    const nowMs = performance.now();
    const all = this.tail + text;
    let at = all.indexOf(statusMark);
    while (at !== -1 && at + 12 <= all.length) {
      const status = all.slice(at + statusMark.length, at + 12);
      this.answered(this, status, nowMs - (this.sentMs.shift() ?? nowMs));
      at = all.indexOf(statusMark, at + 12);
    }
    // The beginning of a mark may be at the end.
    this.tail = at === -1 ? all.slice(-(statusMark.length - 1)) : all.slice(at);
  }
}

let crowd: Crowd | null = null;

answerCalls({
  start: (offer: Offer) => {
    crowd?.stop();
    crowd = new Crowd(offer);
    crowd.start();
  },
  take: () => crowd?.take(),
  stop: () => {
    crowd?.stop();
    crowd = null;
  },
});
