import { expect, test } from 'vitest';
import { defaultConfig } from './config/config.ts';
import { header, startOne, timerBody } from './testing/one-member.ts';

interface Told {
  readonly attempts: {
    readonly pop: number;
    readonly attempt: number;
    readonly at: string;
    readonly 'lateness-ms': number;
    readonly 'took-ms': number;
    readonly status: number | string;
    readonly member: string;
  }[];
}

test('every attempt is remembered with its pop, answer, lateness and member, also after the end', async () => {
  const { request, clock, receivers } = await startOne();
  const answers = [503, 200, 200];
  receivers.script = () => ({ afterMs: 40, answer: answers.shift() ?? 200 });
  const setWallMs = clock.wall();
  const set = await request('POST', '/timers', timerBody(10, { repeatFor: 20 }));
  await clock.advance(60_000);
  const path = header(set, 'location') ?? '';
  expect((await request('GET', path)).status).toBe(404);
  const { attempts } = JSON.parse((await request('GET', `${path}/attempts`)).body) as Told;
  expect(attempts.map(({ pop, attempt, status }) => [pop, attempt, status])).toEqual([
    [1, 1, 503],
    [1, 2, 200],
    [2, 1, 200],
  ]);
  expect(attempts[0]).toMatchObject({ 'lateness-ms': 0, 'took-ms': 40, member: 'n0' });
  expect(Date.parse(attempts[0]?.at ?? '')).toBe(setWallMs + 10_000);
  expect(attempts[1]?.['lateness-ms']).toBeGreaterThan(40);
});

test('no more is remembered than the configuration says', async () => {
  const history = { ...defaultConfig.history, attemptCountMax: 2, timerCountMax: 1 };
  const { request, clock } = await startOne({ config: { ...defaultConfig, history } });
  const first = await request('POST', '/timers', timerBody(1, { repeatFor: 5 }));
  await clock.advance(20_000);
  const path = `${header(first, 'location') ?? ''}/attempts`;
  const { attempts } = JSON.parse((await request('GET', path)).body) as Told;
  expect(attempts.map(({ pop }) => pop)).toEqual([4, 5]);
  await request('POST', '/timers', timerBody(1));
  await clock.advance(20_000);
  expect(JSON.parse((await request('GET', path)).body)).toEqual({ attempts: [], missing: [] });
});
