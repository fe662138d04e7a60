/** Namespaces do not take each other's places, even if their receivers are silent, slow or closed. */
import type { CallbackResult } from '@carillon/core';
import { type CallbackScript, FakeCallbacks, VirtualClock } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { splitUri } from '../../callback/uri.ts';
import { Destinations, type DestinationsOptions } from '../sending/destinations.ts';

interface Outcome {
  readonly namespace: string;
  readonly tookMs: number;
  readonly result: CallbackResult;
}

function rig(script: CallbackScript, change: Partial<DestinationsOptions> = {}) {
  const clock = new VirtualClock();
  const callbacks = new FakeCallbacks(clock, script);
  const outcomes: Outcome[] = [];
  const destinations = new Destinations({
    clock,
    callbacks,
    inFlightMax: 512,
    inFlightPerDestinationMax: 128,
    queueLengthMax: 50_000,
    usualLimitMs: 10_000,
    ...change,
  });
  const call = (namespace: string, uri: string, limitMs = 10_000): void => {
    const startMs = clock.now();
    const body = new Uint8Array();
    const split = splitUri(uri);
    const request = { uri, split, namespace, method: 'POST', headers: {}, body, limitMs };
    destinations.call(
      request,
      () => request,
      (result) => outcomes.push({ namespace, tookMs: clock.now() - startMs, result }),
    );
  };
  const of = (name: string) => outcomes.filter(({ namespace }) => namespace === name);
  return { clock, callbacks, destinations, call, of };
}

const good = 'http://good.example/';
const answersSoon = { afterMs: 5, answer: 200 } as const;

/** Attacks of one namespace on the places of others: many calls to each of many receivers. */
const worst: Record<string, { script: CallbackScript; uris: readonly string[]; limitMs: number }> =
  {
    'silent receivers at 70 ports': {
      script: ({ uri }) => (uri === good ? answersSoon : 'hang'),
      uris: Array.from({ length: 70 }, (_, i) => `http://silent.example:${1000 + i}/`),
      limitMs: 120_000,
    },
    'receivers that take their time': {
      script: ({ uri }) => (uri === good ? answersSoon : { afterMs: 60_000, answer: 200 }),
      uris: Array.from({ length: 40 }, (_, i) => `http://slow.example:${1000 + i}/`),
      limitMs: 120_000,
    },
    'time limits of a millisecond for the receiver of others': {
      script: ({ limitMs }) => (limitMs === 1 ? 'hang' : answersSoon),
      uris: [good],
      limitMs: 1,
    },
    'a closed port': {
      script: ({ uri }) =>
        uri === good ? answersSoon : { kind: 'no-answer', reason: 'refused', detail: '' },
      uris: ['http://closed.example/'],
      limitMs: 10_000,
    },
  };

describe.each(Object.entries(worst))('one namespace with %s', (_, { script, uris, limitMs }) => {
  it('callbacks of another start at once, and none fails', async () => {
    const { clock, call, of } = rig(script);
    for (let ms = 0; ms < 20_000; ms += 100) {
      for (const uri of uris) for (let i = 0; i < 8; i++) call('bad', uri, limitMs);
      for (let i = 0; i < 3; i++) call('good', good);
      await clock.advance(100);
    }
    expect(of('good')).toHaveLength(600);
    for (const { tookMs, result } of of('good')) {
      expect(result).toMatchObject({ kind: 'answer', status: 200 });
      expect(tookMs).toBe(5);
    }
  });
});

it('a namespace that was never seen before starts at once, though others hold all they can get', async () => {
  const { clock, call, of } = rig(({ uri }) => (uri === good ? answersSoon : 'hang'));
  for (let nth = 0; nth < 5; nth++) {
    for (let i = 0; i < 500; i++) call(`bad-${nth}`, `http://silent-${i}.example/`);
  }
  call('good', good);
  await clock.advance(5);
  expect(of('good')).toMatchObject([{ tookMs: 5 }]);
});

it('receivers that have not answered take no more than a quarter of all places for one namespace, and half for many', async () => {
  const { clock, call, destinations } = rig(() => 'hang');
  for (let i = 0; i < 500; i++) call('one', `http://silent-${i}.example/`);
  expect(destinations.inFlight).toBe(128);
  for (let nth = 0; nth < 5; nth++) {
    for (let i = 0; i < 500; i++) call(`n${nth}`, `http://silent-${i}.example/`);
  }
  // The others have few under way.
  expect(destinations.inFlight).toBe(256 + 4 * 32);
  await clock.advance(1);
});

it('places are shared by weight among namespaces that wait for them', async () => {
  const shareOf = (namespace: string) => (namespace === 'large' ? 3 : 1);
  const { clock, call, callbacks } = rig(() => ({ afterMs: 10, answer: 200 }), { shareOf });
  // Both namespaces are known before the measurement begins.
  for (const name of ['large', 'plain']) call(name, `http://${name}.example/`);
  await clock.advance(10);
  for (const name of ['large', 'plain']) {
    for (let origin = 0; origin < 64; origin++) {
      for (let i = 0; i < 100; i++) call(name, `http://${name}-${origin}.example/`);
    }
  }
  await clock.advance(100);
  const from = callbacks.calls.length;
  await clock.advance(50);
  const later = callbacks.calls.slice(from).map(({ request }) => request.namespace);
  const ratio =
    later.filter((name) => name === 'large').length /
    later.filter((name) => name === 'plain').length;
  expect(ratio).toBeGreaterThan(2);
  expect(ratio).toBeLessThan(4);
});

it('a namespace that has most of the calls that may wait is told to wait elsewhere, and no other is', () => {
  const { call, destinations } = rig(() => 'hang', { queueLengthMax: 1000 });
  for (let i = 0; i < 1100; i++) call('bad', `http://silent-${i % 100}.example/`);
  const to = (namespace: string) => ({ uri: good, split: splitUri(good), namespace });
  expect(destinations.waitMs(to('bad'))).toBeGreaterThan(0);
  expect(destinations.waitMs(to('good'))).toBe(0);
});

it('a namespace with very many receivers forgets its own, and refuses its own', async () => {
  const { clock, call, of } = rig(({ uri }) => (uri === good ? answersSoon : 'hang'), {
    destinationCountMax: 100,
  });
  for (let i = 0; i < 200; i++) call('bad', `http://silent-${i}.example/`);
  call('good', good);
  await clock.advance(5);
  expect(of('good')).toMatchObject([{ result: { status: 200 } }]);
  expect(of('bad').every(({ result }) => result.kind === 'unmade')).toBe(true);
});
