/** What goes wrong in a soak, one thing after the other, drawn at random, each with a while of peace behind it. */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { RealMember } from '../../test/e2e/support/real-member.ts';
import type { Story } from '../../test/e2e/support/story.ts';
import { until } from '../../test/e2e/support/until.ts';

const fixed = { n0: 'active', n1: 'active', n2: 'active' } as const;
const guest = 'n3';
const limitMs = 60_000;

export class Faults {
  readonly counts: Record<string, number> = {};
  private readonly story: Story;
  private readonly secretFile: string;
  private readonly tell: (line: string) => void;
  private readonly kinds: Readonly<Record<string, () => Promise<void>>> = {
    killed: () => this.kill(),
    paused: () => this.pause(),
    restarted: () => this.restart(),
    'joined and left': () => this.visit(),
    'secret changed': () => this.changeSecret(),
  };

  constructor(story: Story, secretFile: string, tell: (line: string) => void) {
    this.story = story;
    this.secretFile = secretFile;
    this.tell = tell;
    story.cluster.add(guest);
    story.forget(guest);
  }

  /** The rarest first, so that a short soak sees each. */
  async next(): Promise<void> {
    const { story, counts } = this;
    const least = Math.min(...Object.keys(this.kinds).map((kind) => counts[kind] ?? 0));
    const rare = Object.keys(this.kinds).filter((kind) => (counts[kind] ?? 0) === least);
    const kind = story.random.pick(rare);
    const fromMs = performance.now();
    await this.kinds[kind]?.();
    counts[kind] = (counts[kind] ?? 0) + 1;
    await story.cluster.seeEachOther();
    this.tell(
      `${kind} from ${inSeconds(fromMs)} to ${inSeconds(performance.now())}; ${story.summary()}`,
    );
    await story.pass(2000, 6000);
  }

  private any(): RealMember {
    return this.story.random.pick(this.story.cluster.running);
  }

  private async kill(): Promise<void> {
    const revive = await this.story.kill(this.any());
    await this.story.pass(500, 4000);
    await revive();
  }

  private pause(): Promise<void> {
    return this.story.pause(this.any(), 500 + this.story.random.unit() * 5000);
  }

  /** As for an upgrade: no fault. */
  private async restart(): Promise<void> {
    const member = this.any();
    await member.stop();
    await member.start();
  }

  private async visit(): Promise<void> {
    const { cluster } = this.story;
    const member = cluster.member(guest);
    cluster.writeMembers({ ...fixed, [guest]: 'joining' });
    await member.start();
    cluster.writeMembers({ ...fixed, [guest]: 'active' });
    await cluster.seeEachOther();
    await this.story.pass(2000, 4000);
    cluster.writeMembers({ ...fixed, [guest]: 'leaving' });
    await until(
      'nothing is left on who leaves',
      limitMs,
      async () => (await member.copies()) === 0,
    );
    cluster.writeMembers(fixed);
    await member.stop();
  }

  /** Both are good for a while, then only the new one. */
  private async changeSecret(): Promise<void> {
    const [old = ''] = readFileSync(this.secretFile, 'utf8').split('\n');
    const fresh = randomBytes(32).toString('hex');
    for (const secrets of [[old, fresh], [fresh, old], [fresh]]) {
      writeFileSync(`${this.secretFile}.new`, secrets.join('\n'));
      renameSync(`${this.secretFile}.new`, this.secretFile);
      for (const member of this.story.cluster.running) member.reload();
      await this.story.pass(1500, 2500);
    }
  }
}

/** On the clock that the judges use in their sentences. */
function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
