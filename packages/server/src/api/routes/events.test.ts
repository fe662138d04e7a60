import { CarillonError } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import type { Caller } from '../../access/access.ts';
import { Metrics } from '../../metrics/metrics.ts';
import { EventStream, listenerCountMax, waitingBytesMax } from './events.ts';
import { sampleCountMax, type Sample } from './events-samples.ts';
import type { ApiResponse } from '../../http/message.ts';
import type { Outflow } from '../../http/outflow.ts';
import { StandIn } from '../stand-in.contract.ts';

class Listening implements Outflow {
  readonly chunks: string[] = [];
  waitingBytes = 0;
  full = false;
  over: 'no' | 'ended' | 'cut' = 'no';
  private closed: () => void = () => {};

  write(chunk: string | Uint8Array): void {
    this.chunks.push(String(chunk));
  }
  end(): void {
    this.close('ended');
  }
  cut(): void {
    this.close('cut');
  }
  onTaken(): void {}
  onClose(fn: () => void): void {
    this.closed = fn;
  }
  close(how: 'ended' | 'cut'): void {
    this.over = how;
    this.closed();
  }

  events(name: string): unknown[] {
    return this.chunks
      .filter((chunk) => chunk.startsWith(`event: ${name}\ndata: `) && chunk.endsWith('\n\n'))
      .map((chunk) => JSON.parse(chunk.slice(chunk.indexOf('data: ') + 6)) as unknown);
  }
}

interface Snapshot {
  readonly self: string;
  readonly cluster: { readonly members: readonly unknown[] };
  readonly sample: Sample;
}

class Scene {
  readonly clock = new VirtualClock();
  readonly metrics = new Metrics({ version: '1', runtime: 'x' });
  readonly service = new StandIn();
  asked = 0;
  /** Name of the token that is no longer accepted. */
  revoked = '';
  readonly events: EventStream;

  /** `quiet`: no member tells of pops. */
  constructor(quiet = false) {
    const view = this.service.cluster();
    const silent = view.members.map((member) => ({ ...member, load: null }));
    const members = silent as unknown as typeof view.members;
    const cluster = quiet ? { ...view, members } : view;
    this.service.cluster = () => {
      this.asked++;
      return cluster;
    };
    const { clock, metrics, service } = this;
    const knows = (caller: Caller): boolean => caller.name !== this.revoked;
    const about = { self: 'n0', version: '1', factor: 2, knows };
    this.events = new EventStream({ clock, metrics, control: service, ...about });
    this.events.start();
  }

  async pass(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  listen(name = 'ada', bound = '*'): Listening {
    const answer = this.events.route.handle(
      { method: 'GET', path: '/events', query: '', headers: {}, body: new Uint8Array(0) },
      '',
      { auth: true, scope: 'read', name, bound, namespace: 'default', key: name },
    ) as ApiResponse;
    expect(answer.headers).toContain('text/event-stream; charset=utf-8');
    const listening = new Listening();
    answer.stream?.(listening);
    return listening;
  }
}

test('a listener gets the samples of before, then one snapshot a second', async () => {
  const scene = new Scene();
  await scene.pass(3);
  scene.metrics.pops.add('delivered', 5);
  scene.metrics.popLateness.observe(3);
  await scene.pass(1);
  const listening = scene.listen();
  const [history] = listening.events('history') as [Sample[]];
  expect(history.map(({ delivered }) => delivered)).toEqual([0, 0, 0, 5]);
  await scene.pass(2);
  const snapshots = listening.events('snapshot') as Snapshot[];
  expect(snapshots).toHaveLength(3);
  expect(snapshots.map(({ sample }) => sample.delivered)).toEqual([5, 0, 0]);
  expect(snapshots[0]?.sample.at).toBe(history.at(-1)?.at);
  expect(snapshots[0]?.self).toBe('n0');
  expect(snapshots[0]?.cluster.members).toHaveLength(1);
});

test('percentiles look at the pops of the last ten seconds and are null without any', async () => {
  const scene = new Scene();
  scene.metrics.popLateness.observe(3);
  await scene.pass(30);
  const [history] = scene.listen().events('history') as [Sample[]];
  const known = history.map(({ p50, p99 }) => p50 !== null && p99 !== null);
  expect(known.filter(Boolean)).toHaveLength(10);
  expect(known.slice(0, 10)).not.toContain(false);
});

test('the cluster is looked at once a second, however many listen', async () => {
  const scene = new Scene();
  await scene.pass(10);
  expect(scene.asked).toBe(10);
  // The first one is not made to wait for the next second.
  const listeners = Array.from({ length: 10 }, () => scene.listen());
  expect(scene.asked).toBe(11);
  await scene.pass(5);
  expect(scene.asked).toBe(16);
  for (const listening of listeners) listening.close('ended');
  await scene.pass(5);
  expect(scene.asked).toBe(21);
});

test('without a listener and without a pop, every five seconds, and no second is missing', async () => {
  const scene = new Scene(true);
  await scene.pass(28);
  expect(scene.asked).toBeLessThanOrEqual(7);
  const [quiet] = scene.listen().events('history') as [Sample[]];
  expect(quiet.map(({ at }) => at - (quiet[0]?.at ?? 0))).toEqual(
    Array.from({ length: 28 }, (_, i) => i * 1000),
  );
});

test('pops after a quiet time are shared among the seconds without a look', async () => {
  const scene = new Scene(true);
  await scene.pass(30);
  const asked = scene.asked;
  scene.metrics.pops.add('delivered', 10);
  await scene.pass(10);
  expect(scene.asked).toBeGreaterThanOrEqual(asked + 2);
  const [history] = scene.listen().events('history') as [Sample[]];
  expect(history).toHaveLength(40);
  expect(history.reduce((sum, { delivered }) => sum + delivered, 0)).toBeCloseTo(10, 2);
});

test('a sample sums up all members that are heard', async () => {
  const scene = new Scene();
  const view = scene.service.cluster();
  const [one] = view.members;
  if (one === undefined) throw new Error('The stand-in has a member.');
  const load = {
    popsPerSecond: 7.5,
    retriedPerSecond: 1.5,
    givenUpPerSecond: 0.5,
    latenessP50Ms: 2,
    latenessP99Ms: 40,
    lagMs: 1,
  };
  scene.service.cluster = () => ({
    ...view,
    members: [
      one,
      { ...one, name: 'b', load },
      { ...one, name: 'silent', reachable: false, load: { ...load, latenessP99Ms: 9000 } },
      { ...one, name: 'older', load: null },
    ] as typeof view.members,
  });
  await scene.pass(1);
  const [[sample]] = scene.listen().events('history') as [[Sample]];
  expect(sample.all).toEqual({ pops: 10, retried: 1.5, dead: 0.5, p50: 2, p99: 40 });
});

test('five minutes are remembered, no more', async () => {
  const scene = new Scene();
  await scene.pass(2 * sampleCountMax);
  expect((scene.listen().events('history') as [Sample[]])[0]).toHaveLength(sampleCountMax);
});

test('one listener too many is refused; when one goes, there is room again', () => {
  const scene = new Scene();
  const listeners = Array.from({ length: listenerCountMax }, () => scene.listen());
  expect(() => scene.listen()).toThrow(CarillonError);
  listeners[0]?.close('ended');
  scene.listen();
});

test('a tenant that listens without end leaves half of the room to others', () => {
  const scene = new Scene();
  const listeners = Array.from({ length: listenerCountMax / 2 }, () => scene.listen('t', 'shop'));
  expect(() => scene.listen('another token', 'shop')).toThrow('32 dashboards of this namespace');
  for (let i = 0; i < listenerCountMax / 2; i++) scene.listen('ada', i % 2 === 0 ? '*' : 'bank');
  expect(() => scene.listen('ada')).toThrow('64 dashboards listen');
  listeners[0]?.close('ended');
  scene.listen('t', 'shop');
});

test('a listener that does not keep up is cut, the others go on', async () => {
  const scene = new Scene();
  const slow = scene.listen();
  const quick = scene.listen();
  slow.waitingBytes = waitingBytesMax + 1;
  await scene.pass(2);
  expect(slow.over).toBe('cut');
  expect(slow.events('snapshot')).toHaveLength(0);
  expect(quick.over).toBe('no');
  expect(quick.events('snapshot')).toHaveLength(2);
});

test('after a stop nothing is computed any more and every listener has its end', async () => {
  const scene = new Scene();
  const listening = scene.listen();
  scene.events.stop();
  await scene.pass(5);
  expect(listening.over).toBe('ended');
  expect(scene.asked).toBe(0);
});

test('a listener whose token is gone hears nothing more', async () => {
  const scene = new Scene();
  const [ada, bob] = [scene.listen('ada'), scene.listen('bob')];
  await scene.pass(1);
  scene.revoked = 'bob';
  const heard = bob.chunks.length;
  await scene.pass(2);
  expect([ada.over, bob.over, bob.chunks.length]).toEqual(['no', 'ended', heard]);
});

test('samples of an hour and a day are kept coarsely, and other ranges are refused', async () => {
  const scene = new Scene();
  await scene.pass(150);
  const ask = (query: string): ApiResponse =>
    scene.events.samplesRoute.handle(
      { method: 'GET', path: '/samples', query, headers: {}, body: new Uint8Array(0) },
      '',
      { auth: true, scope: 'read', name: 'a', bound: '*', namespace: 'default', key: 'a' },
    ) as ApiResponse;
  const counted = (query: string): number =>
    (JSON.parse(ask(query).body) as { samples: Sample[] }).samples.length;
  expect(counted('')).toBe(150);
  expect(counted('range=1h')).toBeGreaterThanOrEqual(15);
  expect(counted('range=1h')).toBeLessThanOrEqual(17);
  expect(counted('range=1d')).toBeGreaterThanOrEqual(3);
  expect(counted('range=1d')).toBeLessThanOrEqual(4);
  expect(() => ask('range=1y')).toThrow(CarillonError);
});
