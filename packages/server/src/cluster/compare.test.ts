import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Digests } from '../replication/digests.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Message } from '../replication/wire/message.ts';
import { recordOf } from '../testing/records.ts';
import { Compare } from './compare.ts';

/** A member `a` whose peer `b` says which ranges differ, and that lists no record of any range. */
class Rig {
  readonly clock = new VirtualClock();
  /** Ranges that were listed, in order. */
  readonly listed: number[] = [];
  looks = 0;
  /** Of the next looks; the last one stays. */
  answers: number[][] = [[]];
  /** A look gets no answer. */
  isSilent = false;
  /** The number's lowest byte is its range. */
  private readonly digests = new Digests('a', (_, lo) => lo & 0xff);
  readonly compare: Compare;

  constructor() {
    this.compare = new Compare({
      clock: this.clock,
      digests: this.digests,
      replica: { store: { walk: () => undefined } } as unknown as Replica,
      peers: { send: (...sent: Parameters<Peers['send']>) => this.send(...sent) } as Peers,
      onSent: () => undefined,
      onReceived: () => undefined,
    });
  }

  /** A record of each range comes in here. */
  change(ranges: readonly number[], replicas: readonly string[] = ['a', 'b']): void {
    for (const lo of ranges) this.digests.toggle(recordOf({ hi: this.looks, lo, replicas }));
  }

  private send(_: string, message: Message, done: (answer: Answer | null) => void): void {
    if (message.type === 'digest') {
      this.looks++;
      const [ranges = []] = this.answers.length > 1 ? this.answers.splice(0, 1) : this.answers;
      done(this.isSilent ? null : { type: 'ranges', ranges });
    } else if (message.type === 'range') {
      this.listed.push(message.range);
      done({ type: 'difference', newer: [], want: [] });
    }
  }
}

const all = Array.from({ length: 256 }, (_, i) => i);

test('a check of members that agree is one look', async () => {
  const rig = new Rig();
  rig.compare.check('b');
  await rig.clock.advance(5000);
  expect(rig).toMatchObject({ looks: 1, listed: [] });
});

test('a check lists a range that differs a second later too, where nothing changed meanwhile', async () => {
  const rig = new Rig();
  rig.answers = [
    [3, 7],
    [7, 9],
  ];
  rig.compare.check('b');
  await rig.clock.advance(999);
  expect(rig.listed).toEqual([]);
  await rig.clock.advance(1);
  expect(rig).toMatchObject({ looks: 2, listed: [7] });
});

test('under load, when records on their way make all ranges differ, a check lists eight, and others each time', async () => {
  const rig = new Rig();
  rig.answers = [all];
  for (let round = 0; round < 32; round++) {
    rig.compare.check('b');
    rig.change(all);
    await rig.clock.advance(1000);
    expect(rig.listed).toHaveLength(8 * (round + 1));
  }
  expect(rig.listed).toEqual(all);
});

test('busy ranges have their turn with each peer, however many peers there are', async () => {
  const rig = new Rig();
  rig.answers = [all];
  for (let round = 0; round < 2; round++) {
    for (const name of ['b', 'c']) rig.compare.check(name);
    rig.change(all, ['a', 'b', 'c']);
    await rig.clock.advance(1000);
  }
  const [first, second] = [all.slice(0, 8), all.slice(8, 16)];
  expect(rig.listed).toEqual([...first, ...first, ...second, ...second]);
});

test('a comparison after a restart takes the place of a check between its two looks', async () => {
  const rig = new Rig();
  rig.answers = [all];
  rig.compare.check('b');
  const fetched: (number | null)[] = [];
  rig.compare.start('b', (count) => fetched.push(count));
  expect(rig).toMatchObject({ looks: 2, listed: all });
  expect(fetched).toEqual([0]);
  await rig.clock.advance(5000);
  expect(rig).toMatchObject({ looks: 2, listed: all });
});

test('a difference that lasts is listed at once beside busy ranges', async () => {
  const rig = new Rig();
  rig.answers = [all];
  rig.compare.check('b');
  rig.change(all.filter((range) => range !== 200));
  await rig.clock.advance(1000);
  expect(rig.listed).toEqual([200, 0, 1, 2, 3, 4, 5, 6, 7]);
});

test('a comparison after a restart lists all ranges that differ, at once', () => {
  const rig = new Rig();
  rig.answers = [all];
  rig.compare.start('b');
  expect(rig).toMatchObject({ looks: 1, listed: all });
});

test('after a look without an answer the next check begins anew', () => {
  const rig = new Rig();
  rig.isSilent = true;
  rig.compare.check('b');
  rig.isSilent = false;
  rig.compare.check('b');
  expect(rig.looks).toBe(2);
});

test('between the two looks no other comparison with the same peer begins, and after `stop` no second look', async () => {
  const rig = new Rig();
  rig.answers = [all];
  rig.compare.check('b');
  rig.compare.check('b');
  expect(rig.looks).toBe(1);
  rig.compare.stop();
  await rig.clock.advance(5000);
  expect(rig.looks).toBe(1);
});
