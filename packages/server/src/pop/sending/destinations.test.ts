import type { CallbackRequest, CallbackResult } from '@carillon/core';
import {
  type CallbackScript,
  FakeCallbacks,
  SeededRandom,
  VirtualClock,
} from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { callbacksContract } from '../../../../core/src/testing/callbacks.contract.ts';
import { splitUri } from '../../callback/uri.ts';
import { failureCountMax, openMsMin } from '../places/breaker.ts';
import { Destinations, type DestinationsOptions } from './destinations.ts';

interface Outcome {
  readonly uri: string;
  readonly atMs: number;
  readonly result: CallbackResult;
}

class Rig {
  readonly clock = new VirtualClock();
  readonly callbacks: FakeCallbacks;
  readonly destinations: Destinations;
  readonly outcomes: Outcome[] = [];
  /** The most under way at once: in all, and to any one origin. */
  peak = 0;
  peakOfOne = 0;
  private readonly open = new Map<string, number>();

  constructor(script: CallbackScript, change: Partial<DestinationsOptions> = {}) {
    this.callbacks = new FakeCallbacks(this.clock, script);
    const watched = {
      call: (request: CallbackRequest, done: (result: CallbackResult) => void): void => {
        const { origin } = new URL(request.uri);
        this.count(origin, 1);
        this.callbacks.call(request, (result) => {
          this.count(origin, -1);
          done(result);
        });
      },
      close: () => this.callbacks.close(),
    };
    this.destinations = new Destinations({
      clock: this.clock,
      callbacks: watched,
      inFlightMax: 64,
      inFlightPerDestinationMax: 32,
      queueLengthMax: 10_000,
      usualLimitMs: 1000,
      ...change,
    });
  }

  call(uri: string, count = 1, limitMs = 10_000, namespace = 'default'): void {
    for (let i = 0; i < count; i++) {
      const request = {
        uri,
        split: splitUri(uri),
        namespace,
        method: 'POST',
        headers: {},
        body: Buffer.from(String(i)),
        limitMs,
      };
      this.destinations.call(
        request,
        () => request,
        (result) => this.outcomes.push({ uri, atMs: this.clock.now(), result }),
      );
    }
  }

  of(uri: string): Outcome[] {
    return this.outcomes.filter((outcome) => outcome.uri === uri);
  }

  private count(origin: string, by: number): void {
    const now = (this.open.get(origin) ?? 0) + by;
    this.open.set(origin, now);
    this.peak = Math.max(this.peak, this.callbacks.inFlight + Math.max(by, 0));
    this.peakOfOne = Math.max(this.peakOfOne, now);
  }
}

const dead = 'http://dead.example/';
const live = 'http://live.example/';

function hangs(hanging: RegExp): CallbackScript {
  return ({ uri }) => (hanging.test(uri) ? 'hang' : { afterMs: 1, answer: 200 });
}

callbacksContract('Destinations', () => {
  const rig = new Rig(({ uri }) => {
    const kind = new URL(uri).hostname;
    if (kind === 'hangs') return 'hang';
    if (kind === 'answers-503-after-7s') return { kind: 'answer', status: 503, retryAfterMs: 7000 };
    if (kind === 'answers-204') return 204;
    return { kind: 'no-answer', reason: kind === 'cuts' ? 'cut' : 'refused', detail: '' };
  });
  return Promise.resolve({
    callbacks: {
      call: (request, done) => rig.destinations.call(request, () => request, done),
      close: () => rig.destinations.close(),
    },
    uri: (kind) => `http://${kind}/`,
    pass: (ms) => rig.clock.advance(ms),
    until: () => rig.clock.advance(0),
    dispose: () => Promise.resolve(),
  });
});

describe('Destinations: one dead receiver does not hold up the others (P4)', () => {
  it('1000 pops for a hanging receiver do not delay another receiver by a millisecond', async () => {
    const rig = new Rig(hangs(/dead/));
    rig.call(dead, 1000);
    rig.call(live);
    await rig.clock.advance(1);
    expect(rig.of(live)).toMatchObject([{ atMs: 1, result: { status: 200 } }]);
    for (let i = 0; i < 100; i++) {
      await rig.clock.advance(137);
      rig.call(live);
    }
    await rig.clock.advance(1);
    expect(rig.of(live)).toHaveLength(101);
    const [first, ...rest] = rig.of(live);
    expect(first?.atMs).toBe(1);
    rest.forEach((outcome, i) => expect(outcome.atMs).toBe(1 + 137 * (i + 1) + 1));
  });

  it('a whole street of hanging receivers leaves room for the others', async () => {
    const rig = new Rig(hangs(/dead/), { inFlightMax: 256, inFlightPerDestinationMax: 64 });
    for (let i = 0; i < 20; i++) rig.call(`http://dead-${i}.example/`, 100);
    rig.call(live, 50);
    await rig.clock.advance(60);
    expect(rig.of(live)).toHaveLength(50);
  });

  it('every pop for the dead one is answered, most of them at once when the circuit opens, as not made', async () => {
    const rig = new Rig(hangs(/dead/));
    rig.call(dead, 1000);
    expect(rig.destinations.queued).toBe(992);
    await rig.clock.advance(10_000);
    expect(rig.destinations.queued).toBe(0);
    expect(rig.of(dead).length).toBeGreaterThan(990);
    await rig.clock.advance(10_000);
    expect(rig.of(dead)).toHaveLength(1000);
    // The first eight, and the four that took their places before the fifth failure.
    expect(rig.callbacks.calls).toHaveLength(8 + failureCountMax - 1);
    const kinds = rig.of(dead).map(({ result }) => result.kind);
    expect(kinds.filter((kind) => kind !== 'unmade')).toEqual(
      rig.callbacks.calls.map(() => 'no-answer'),
    );
  });

  it('a receiver that comes back is called again after one probe, and the rest follow', async () => {
    let down = true;
    const rig = new Rig(() =>
      down ? { kind: 'no-answer', reason: 'refused', detail: 'Down.' } : 200,
    );
    rig.call(live, failureCountMax);
    await rig.clock.advance(0);
    rig.call(live);
    await rig.clock.advance(0);
    expect(rig.callbacks.calls).toHaveLength(failureCountMax);
    expect(rig.outcomes.at(-1)?.result).toMatchObject({
      kind: 'unmade',
      waitMs: openMsMin,
      detail: expect.stringMatching(/left alone.*Down\./) as string,
    });
    down = false;
    await rig.clock.advance(openMsMin);
    rig.call(live, 3);
    await rig.clock.advance(0);
    expect(rig.callbacks.calls).toHaveLength(failureCountMax + 1);
    rig.call(live, 3);
    await rig.clock.advance(0);
    expect(rig.callbacks.calls).toHaveLength(failureCountMax + 4);
    expect(rig.outcomes.slice(-3)).toMatchObject(
      Array.from({ length: 3 }, () => ({ result: { status: 200 } })),
    );
  });

  it('waiting calls are answered when the circuit opens, even while all places are taken', async () => {
    const slow = 'http://slow.example/';
    const rig = new Rig(({ uri }) => (uri === dead ? 'hang' : { afterMs: 50, answer: 200 }), {
      inFlightMax: 20,
    });
    rig.call(dead, 30, 1000);
    rig.call(slow, 5000);
    await rig.clock.advance(3000);
    expect(rig.destinations.inFlight).toBeGreaterThanOrEqual(15);
    const underWay = rig.callbacks.calls.filter(
      (one) => one.endMs === null && one.request.uri === dead,
    );
    expect(rig.of(dead)).toHaveLength(30 - underWay.length);
  });

  it('a full queue is answered in slices, so that others get their turn between', async () => {
    const rig = new Rig(hangs(/dead/), { queueLengthMax: 0 });
    rig.call(dead, 8 + 250);
    const counts = [100, 200, 250].map(() => {
      rig.clock.step();
      return rig.outcomes.length;
    });
    expect(counts).toEqual([100, 200, 250]);
  });

  it('a forbidden call neither opens the circuit nor counts against the receiver', async () => {
    const rig = new Rig(() => ({ kind: 'no-answer', reason: 'forbidden', detail: '' }));
    rig.call(live, 50);
    await rig.clock.advance(0);
    expect(rig.callbacks.calls).toHaveLength(50);
  });

  it('errors of a receiver that answers do not open the circuit', async () => {
    const rig = new Rig(() => 500);
    for (let i = 0; i < 50; i++) {
      rig.call(live);
      await rig.clock.advance(1);
    }
    expect(rig.callbacks.calls).toHaveLength(50);
  });
});

describe('Destinations: until when a receiver made calls wait', () => {
  const to = (uri: string) => ({ uri, split: splitUri(uri), namespace: 'default' });

  it('a receiver that answers, or was never called, has made no call wait', async () => {
    const rig = new Rig(() => 200);
    expect(rig.destinations.delayedUntilMs(to(live))).toBe(Number.NEGATIVE_INFINITY);
    rig.call(live, 5);
    await rig.clock.advance(10);
    expect(rig.destinations.delayedUntilMs(to(live))).toBe(Number.NEGATIVE_INFINITY);
  });

  it('one that fails makes them wait, until the moment of its next answer', async () => {
    let isBack = false;
    const refused = { kind: 'no-answer', reason: 'refused', detail: '' } as const;
    const rig = new Rig(() => (isBack ? 200 : refused));
    rig.call(dead);
    await rig.clock.advance(10);
    expect(rig.destinations.delayedUntilMs(to(dead))).toBe(Number.POSITIVE_INFINITY);
    isBack = true;
    await rig.clock.advance(90);
    rig.call(dead);
    await rig.clock.advance(10);
    expect(rig.destinations.delayedUntilMs(to(dead))).toBe(100);
  });

  it('one at its limit makes them wait, until the last call has a place', async () => {
    const rig = new Rig(() => ({ afterMs: 50, answer: 200 }), { inFlightPerDestinationMax: 2 });
    rig.call(live, 5);
    await rig.clock.advance(500);
    expect(rig.of(live).map(({ atMs }) => atMs)).toEqual([50, 50, 100, 100, 150]);
    expect(rig.destinations.delayedUntilMs(to(live))).toBe(100);
  });

  it('calls that wait for one of the places of all receivers do not wait for their own', async () => {
    const rig = new Rig(() => ({ afterMs: 50, answer: 200 }), { inFlightMax: 2 });
    rig.call(live, 2);
    rig.call('http://other.example/');
    await rig.clock.advance(500);
    expect(rig.of('http://other.example/')).toMatchObject([{ atMs: 100 }]);
    const until = rig.destinations.delayedUntilMs(to('http://other.example/'));
    expect(until).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('Destinations: limits', () => {
  it('keeps within both, and still makes every call, in order for each origin', async () => {
    const random = new SeededRandom(7);
    const rig = new Rig(() => ({ afterMs: random.between(0, 50), answer: 200 }), {
      inFlightMax: 40,
      inFlightPerDestinationMax: 10,
    });
    const uris = ['a', 'b', 'c', 'd', 'e'].map((name) => `http://${name}.example/`);
    for (const uri of uris) rig.call(uri, 300);
    expect(rig.destinations.inFlight + rig.destinations.queued).toBe(1500);
    await rig.clock.advance(60_000);
    expect(rig.outcomes).toHaveLength(1500);
    expect(rig.callbacks.calls).toHaveLength(1500);
    // The last eighth is for other namespaces.
    expect([rig.peak, rig.peakOfOne]).toEqual([35, 10]);
    expect([rig.destinations.inFlight, rig.destinations.queued]).toEqual([0, 0]);
    for (const uri of uris) {
      const order = rig.callbacks.calls
        .filter(({ request }) => request.uri === uri)
        .map(({ request }) => Number(Buffer.from(request.body).toString()));
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }
  });

  it('an origin that has not answered yet gets few places, then its full share', async () => {
    const rig = new Rig(() => ({ afterMs: 10, answer: 200 }));
    rig.call(live, 100);
    expect(rig.destinations.inFlight).toBe(8);
    await rig.clock.advance(10);
    expect(rig.destinations.inFlight).toBe(32);
  });

  it('turns go round: a late origin with few calls is not behind an early one with many', async () => {
    const rig = new Rig(() => ({ afterMs: 10, answer: 200 }), {
      inFlightMax: 8,
      inFlightPerDestinationMax: 8,
    });
    rig.call('http://many.example/', 400);
    rig.call('http://few.example/', 4);
    await rig.clock.advance(40);
    expect(rig.of('http://few.example/')).toHaveLength(4);
  });

  it('the last quarter of the places is for origins with few calls under way', async () => {
    const rig = new Rig(() => ({ afterMs: 1000, answer: 200 }), {
      inFlightMax: 80,
      inFlightPerDestinationMax: 80,
    });
    rig.call('http://many.example/');
    await rig.clock.advance(1000);
    rig.call('http://many.example/', 200);
    expect(rig.destinations.inFlight).toBe(60);
    rig.call('http://few.example/', 8);
    expect(rig.destinations.inFlight).toBe(68);
    await rig.clock.advance(60_000);
    expect(rig.outcomes).toHaveLength(209);
  });

  it('an origin with many calls is not starved by a crowd of others once it has few', async () => {
    const rig = new Rig(() => ({ afterMs: 10, answer: 200 }), { inFlightMax: 40 });
    const many = 'http://many.example/';
    rig.call(many);
    await rig.clock.advance(10);
    rig.call(many, 300);
    for (let i = 0; i < 60; i++) rig.call(`http://crowd-${i}.example/`, 100);
    await rig.clock.advance(500);
    expect(rig.destinations.queued).toBeGreaterThan(3000);
    // Its fair part of 500 ms × 40 places among 61.
    expect(rig.of(many).length).toBeGreaterThan(31 + 20);
  });

  it('over the queue limit a call is answered at once, as not made', async () => {
    const rig = new Rig(hangs(/dead/), { queueLengthMax: 10 });
    rig.call(dead, 8 + 10 + 3);
    expect(rig.destinations.queued).toBe(10);
    await rig.clock.advance(0);
    expect(rig.outcomes).toHaveLength(3);
    expect(rig.outcomes[0]?.result).toMatchObject({ kind: 'unmade' });
  });

  it('forgets origins that are idle, never busy ones, and refuses when all are busy', async () => {
    const rig = new Rig(hangs(/dead/), { destinationCountMax: 6 });
    rig.call('http://dead-1.example/');
    rig.call('http://dead-2.example/');
    for (let i = 0; i < 10; i++) {
      rig.call(`http://live-${i}.example/`);
      await rig.clock.advance(1);
    }
    expect(rig.outcomes).toHaveLength(10);
    expect(rig.destinations['destinations'].size).toBe(3);
    rig.call('http://dead-3.example/');
    rig.call(live);
    await rig.clock.advance(0);
    expect(rig.of(live)).toMatchObject([{ result: { kind: 'unmade' } }]);
    expect(rig.destinations.inFlight).toBe(3);
  });

  it('a uri that leads nowhere is left to the port and takes no place', async () => {
    const rig = new Rig(() => ({ kind: 'no-answer', reason: 'forbidden', detail: '' }));
    const request = {
      uri: 'nowhere',
      split: null,
      namespace: 'default',
      method: 'POST',
      headers: {},
      body: Buffer.of(),
      limitMs: 1,
    };
    const direct = new Destinations({
      clock: rig.clock,
      callbacks: rig.callbacks,
      inFlightMax: 1,
      inFlightPerDestinationMax: 1,
      queueLengthMax: 1,
      usualLimitMs: 1000,
    });
    const results: CallbackResult[] = [];
    direct.call(
      request,
      () => request,
      (result) => results.push(result),
    );
    expect([direct.inFlight, direct['destinations'].size]).toEqual([0, 0]);
    await rig.clock.advance(0);
    expect(results).toMatchObject([{ reason: 'forbidden' }]);
  });

  it('close cuts calls under way, and waiting ones are not made, each once', async () => {
    const rig = new Rig(hangs(/dead/));
    rig.call(dead, 100);
    await rig.destinations.close();
    rig.call(dead);
    await rig.clock.advance(60_000);
    expect(rig.outcomes).toHaveLength(101);
    const cut = rig.outcomes.filter(({ result }) => 'reason' in result && result.reason === 'cut');
    expect(cut).toHaveLength(8);
    expect(rig.outcomes.filter(({ result }) => result.kind === 'unmade')).toHaveLength(93);
  });

  it('is the same run twice', async () => {
    const run = async (): Promise<Outcome[]> => {
      const random = new SeededRandom(3);
      const rig = new Rig(({ uri }) =>
        random.chance(0.3) && uri.includes('0')
          ? 'hang'
          : { afterMs: random.between(0, 99), answer: 200 },
      );
      for (let i = 0; i < 300; i++) {
        rig.call(`http://r${i % 7}.example/`, 1, 500);
        await rig.clock.advance(random.between(0, 5));
      }
      await rig.clock.advance(10_000);
      return rig.outcomes;
    };
    const first = await run();
    expect(first).toHaveLength(300);
    expect(await run()).toEqual(first);
  });
});

it('asks for a request only when its turn has come, and forgets the call when there is none any more', async () => {
  const rig = new Rig(() => ({ afterMs: 100, answer: 200 }), { inFlightPerDestinationMax: 1 });
  rig.call(live);
  const asked: number[] = [];
  const gone = (): null => {
    asked.push(rig.clock.now());
    return null;
  };
  rig.destinations.call({ uri: live, split: splitUri(live), namespace: 'default' }, gone, () =>
    expect.unreachable('a forgotten call has no result'),
  );
  rig.call(live);
  await rig.clock.advance(1000);
  expect(asked).toEqual([100]);
  expect(rig.of(live)).toHaveLength(2);
  expect(rig.destinations.inFlight).toBe(0);
  expect(rig.destinations.queued).toBe(0);
});
