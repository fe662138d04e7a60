/**
 * The contract of docs/upgrading.md: three members are upgraded one after the other to a release with another form of
 * folder and wire, and back, under load. The soak's checker judges the callbacks; a member that gets no processor for
 * more than a second was paused.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { History } from '../../packages/sim/src/history.ts';
import { judgeSoak } from '../soak/checker.ts';
import { Sampler } from '../soak/sampler.ts';
import { Windows } from '../soak/windows.ts';
import { Load } from './support/load.ts';
import { buildNextRelease, type NextRelease } from './support/next-release.ts';
import { RealCluster } from './support/real-cluster.ts';
import { Recorder } from './support/recorder.ts';
import { until } from './support/until.ts';

const names = ['n0', 'n1', 'n2'] as const;
const windows = new Windows();
const history = new History();
const recorder = new Recorder();
let next: NextRelease;
let cluster: RealCluster;
let load: Load;
let sampler: Sampler;

beforeAll(async () => {
  next = buildNextRelease();
  const uri = await recorder.listen();
  cluster = await RealCluster.start({ names });
  load = new Load({
    history,
    seed: 16,
    urls: () => names.map((name) => cluster.member(name).url),
    uri,
    setsPerSecond: 20,
    factor: 2,
    intervalMsMin: 4000,
    intervalMsMax: 6000,
  });
  sampler = new Sampler({ cluster, recorder, windows });
  load.start();
});
afterAll(async () => {
  await load?.stop();
  sampler?.stop();
  await cluster?.end();
  recorder.close();
  next?.remove();
});

/** Stops a member and starts it with another release. */
async function roll(name: string, program?: string): Promise<void> {
  const member = cluster.member(name);
  const end = windows.begin([name], 'stopped', 'was restarted', performance.now());
  expect(await member.stop()).toEqual({ code: 0, signal: null });
  await member.start(program);
  end(performance.now());
  await cluster.seeEachOther();
}

/** Name and form of each file of a member's journal. */
function formsOf(name: string): Map<string, number> {
  const folder = cluster.dataOf(name);
  const files = readdirSync(folder).filter((file) => /\.(log|snap)$/.test(file));
  return new Map(files.map((file) => [file, readFileSync(join(folder, file)).readUInt16LE(8)]));
}

function newestForms(): number[] {
  return names.map((name) => Math.max(...formsOf(name).values()));
}

describe('a cluster that is upgraded one member after the other', () => {
  test('goes back to the release before while one member is still of that release', async () => {
    await until('all have this form', 30_000, () => Math.min(...newestForms()) === 3);
    await roll('n1', next.program);
    await roll('n2', next.program);
    expect(newestForms()).toEqual([3, 3, 3]);
    await roll('n2');
    await roll('n1');
    expect(newestForms()).toEqual([3, 3, 3]);
  });

  test('begins the new form when the last member is upgraded; then the release before refuses the folder in a sentence', async () => {
    for (const name of names) await roll(name, next.program);
    await until('all folders have the new form', 30_000, () => Math.min(...newestForms()) === 4);
    const member = cluster.member('n1');
    const end = windows.begin(['n1'], 'stopped', 'was restarted', performance.now());
    await member.stop();
    const before = formsOf('n1');
    const older = member.launch();
    expect(await older.ended).toEqual({ code: 1, signal: null });
    const [file] = [...before].find(([, form]) => form === 4) ?? [];
    expect(older.errors.join('\n')).toContain(
      `${file} cannot be read. It has form 4 and this release reads forms 1 to 3: use the release that wrote it.`,
    );
    expect(formsOf('n1')).toEqual(before);
    await member.start(next.program);
    end(performance.now());
    await cluster.seeEachOther();
  });

  test('loses no timer and makes none early or twice in all of this', async () => {
    await load.stop();
    await until('no timer is left', 60_000, async () => (await cluster.copies()) === 0);
    sampler.stop();
    const { counts } = judgeSoak({
      history,
      windows,
      members: names,
      calls: recorder.calls,
      deadLetters: new Set(),
      blind: sampler.blind,
    });
    expect(counts.sets).toBeGreaterThan(100);
    expect(counts.pops).toBeGreaterThan(100);
    expect(counts).toMatchObject({
      lost: 0,
      early: 0,
      twice: { outside: 0 },
      revived: { broken: 0 },
      fewCopies: { broken: 0 },
    });
  });
});
