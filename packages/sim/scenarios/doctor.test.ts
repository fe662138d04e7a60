/**
 * docs/operating.md, the doctor: every member is asked, whichever is asked first, and a finding names the member it is
 * about.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];

interface Diagnosis {
  readonly verdict: string;
  readonly findings: readonly { readonly id: string; readonly member: string | null }[];
  readonly members: readonly { readonly name: string }[];
  readonly missing: readonly string[];
}

async function examined(story: Story, via: string): Promise<Diagnosis> {
  const { status, body } = await story.ask('GET', '/doctor', via);
  expect(status).toBe(200);
  return JSON.parse(body) as Diagnosis;
}

const found = ({ findings }: Diagnosis) => findings.map(({ id, member }) => `${id} ${member}`);

test('a cluster that is well: all members answer, and nothing is found', async () => {
  const story = await Story.begin({ members: three });
  await story.pass(10);
  for (const via of three) {
    const diagnosis = await examined(story, via);
    expect(diagnosis.members.map(({ name }) => name)).toEqual(three);
    expect([diagnosis.verdict, found(diagnosis), diagnosis.missing]).toEqual(['well', [], []]);
  }
});

test('a clock that is five seconds off is found, at its member, by any member', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.member('m1').clock.wallOffsetMs = 5000;
  await story.pass(60);
  for (const via of three) {
    const diagnosis = await examined(story, via);
    expect(diagnosis.verdict).toBe('wrong');
    expect(found(diagnosis)).toEqual(['clock-off m1']);
  }
});

test('a member that is gone is found once, however many do not hear it', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.restartMs = 1_000_000;
  story.cluster.member('m2').crash({ power: true, wipe: false });
  await story.pass(20);
  const diagnosis = await examined(story, 'm0');
  expect(diagnosis.missing).toEqual(['m2']);
  expect(found(diagnosis)).toEqual(['member-silent m2']);
});

test('callbacks that backups make in place of a member that is gone are its finding, until minutes after its return (R=2)', async () => {
  const story = await Story.begin({ members: three });
  for (let i = 0; i < 12; i++) await story.set({ seconds: 10, times: 100 });
  story.cluster.restartMs = 1_000_000;
  await story.pass(1);
  story.cluster.member('m2').crash({ power: true, wipe: false });
  await story.pass(20);
  expect(found(await examined(story, 'm0'))).toContain('backups-pop null');
  story.cluster.member('m2').start();
  await story.pass(60);
  expect(found(await examined(story, 'm0'))).toEqual(['backups-pop null']);
  await story.pass(360);
  expect(found(await examined(story, 'm0'))).toEqual([]);
});

test('two members that do not hear each other are found by a third', async () => {
  const story = await Story.begin({ members: three });
  const mend = story.part('m0', 'm1');
  await story.pass(20);
  const diagnosis = await examined(story, 'm2');
  expect(diagnosis.missing).toEqual([]);
  expect(found(diagnosis).filter((one) => one.startsWith('peer-not-heard'))).toEqual([
    'peer-not-heard m0',
    'peer-not-heard m1',
  ]);
  mend();
});
