import { describe, expect, it } from 'vitest';
import type { CallbackRequest, CallbackResult } from '../env.ts';
import { callbacksContract } from './callbacks.contract.ts';
import { type FakeAnswer, FakeCallbacks } from './fake-callbacks.ts';
import { VirtualClock } from './virtual-clock.ts';

function request(limitMs = 1000): CallbackRequest {
  return {
    uri: 'http://receiver.example/a',
    split: { origin: 'http://receiver.example', path: '/a' },
    namespace: 'default',
    method: 'POST',
    headers: {},
    body: new Uint8Array(),
    limitMs,
  };
}

describe('FakeCallbacks', () => {
  it('answers by script, after the call has returned, and keeps the requests', async () => {
    const clock = new VirtualClock();
    const fake = new FakeCallbacks(clock, (_, index) => (index === 0 ? 503 : 204));
    const seen: CallbackResult[] = [];
    fake.call(request(), (result) => seen.push(result));
    expect(seen).toEqual([]);
    await clock.advance(0);
    fake.call(request(), (result) => seen.push(result));
    await clock.advance(0);
    expect(seen.map((result) => result.kind === 'answer' && result.status)).toEqual([503, 204]);
    expect(fake.calls.map((call) => call.request.uri)).toEqual([request().uri, request().uri]);
  });

  it.each([
    ['hang', 'hang'],
    ['an answer later than the limit', { afterMs: 5000, answer: 200 }],
  ] as const)('%s ends as a timeout at the limit, not before', async (_, answer) => {
    const clock = new VirtualClock();
    const fake = new FakeCallbacks(clock, () => answer);
    const seen: CallbackResult[] = [];
    fake.call(request(700), (result) => seen.push(result));
    await clock.advanceTo(699);
    expect(seen).toEqual([]);
    expect(fake.inFlight).toBe(1);
    await clock.advanceTo(10_000);
    expect(seen).toMatchObject([{ kind: 'no-answer', reason: 'timeout' }]);
    expect(fake.calls[0]).toMatchObject({ startMs: 0, endMs: 700 });
    expect(fake.inFlight).toBe(0);
  });

  it('close cuts calls in flight; later ones are not made, each with one result', async () => {
    const clock = new VirtualClock();
    const fake = new FakeCallbacks(clock, () => ({ afterMs: 10, answer: 200 }));
    const seen: CallbackResult[] = [];
    fake.call(request(), (result) => seen.push(result));
    await fake.close();
    fake.call(request(), (result) => seen.push(result));
    await clock.advance(1000);
    expect(seen).toMatchObject([{ reason: 'cut' }, { kind: 'unmade' }]);
  });
});

const answers: Record<string, FakeAnswer> = {
  'answers-204': 204,
  'answers-503-after-7s': { kind: 'answer', status: 503, retryAfterMs: 7000 },
  hangs: 'hang',
  cuts: { kind: 'no-answer', reason: 'cut', detail: '' },
  refuses: { kind: 'no-answer', reason: 'refused', detail: '' },
};

callbacksContract('FakeCallbacks', () => {
  const clock = new VirtualClock();
  return Promise.resolve({
    callbacks: new FakeCallbacks(clock, ({ uri }) => answers[new URL(uri).hostname] ?? 404),
    uri: (kind) => `http://${kind}/`,
    pass: (ms) => clock.advance(ms),
    until: () => clock.advance(0),
    dispose: () => Promise.resolve(),
  });
});
