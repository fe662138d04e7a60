/** The faults of a soak, one after the other, drawn at random, each with a while of peace behind it. */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RealMember } from '../e2e/support/real-member.ts';
import { until } from '../e2e/support/until.ts';
import { guest, names, type Scene } from './scene.ts';
import type { Kind } from './windows.ts';

/** All there are; which of them can be had depends on the machine. */
export const faultNames = [
  'killed',
  'paused',
  'stalled',
  'cut off from members',
  'cut off from etcd',
  'restarted',
  'joined and left',
  'secret changed',
] as const;

const fixed = { n0: 'active', n1: 'active', n2: 'active' } as const;
const limitMs = 60_000;
/** How long the moments without a processor go on. */
const stallingMs = 15_000;
const stallMsMin = 200;

type Name = (typeof names)[number];

export type FaultName = (typeof faultNames)[number];

/** The faults that are possible on this stage. */
export function possibleOn({ namespaces, etcd }: Scene['stage']): FaultName[] {
  return faultNames.filter((name) => {
    if (name === 'cut off from members') return namespaces !== null;
    return name !== 'cut off from etcd' || (namespaces !== null && etcd !== null);
  });
}

export class Faults {
  readonly counts: Record<string, number>;
  private readonly scene: Scene;
  private readonly does: Readonly<Record<FaultName, () => Promise<void>>> = {
    killed: () => this.kill(),
    paused: () => this.pause(),
    stalled: () => this.stall(),
    'cut off from members': () => this.cutFromMembers(),
    'cut off from etcd': () => this.cutFromEtcd(),
    restarted: () => this.restart(),
    'joined and left': () => this.visit(),
    'secret changed': () => this.changeSecret(),
  };
  private readonly kinds: readonly FaultName[];
  private readonly stallMsMax: number;

  /** `stallMsMax`: the longest that a stalled member gets no processor at a time. */
  constructor(scene: Scene, kinds: readonly FaultName[], stallMsMax: number) {
    this.scene = scene;
    this.kinds = kinds;
    this.stallMsMax = stallMsMax;
    this.counts = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  }

  /**
   * Resolves with the name of the fault, when it is over and all members see each other. The rarest first, so that a
   * short soak sees each.
   */
  async next(): Promise<string> {
    const { scene, counts } = this;
    const least = Math.min(...Object.values(counts));
    const kind = scene.random.pick(this.kinds.filter((one) => counts[one] === least));
    await this.does[kind]();
    counts[kind] = least + 1;
    await scene.cluster.seeEachOther();
    const gone = names.filter((name) => !scene.cluster.member(name).running);
    if (gone.length > 0) throw new Error(`${gone.join(' and ')} ended without being asked to`);
    return kind;
  }

  /** A while of peace. */
  peace(): Promise<void> {
    return this.pass(2000, 6000);
  }

  private async kill(): Promise<void> {
    const member = this.mortal();
    await this.during([member.name], 'down', 'was killed', async () => {
      await member.kill();
      await this.pass(500, 4000);
      await member.start();
    });
  }

  private async pause(): Promise<void> {
    const member = this.member(this.any());
    await this.during([member.name], 'paused', 'stood still', async () => {
      member.pause();
      await this.pass(500, 5500);
      member.resume();
    });
  }

  /** One member, or all of them, get no processor for moments, again and again. */
  private async stall(): Promise<void> {
    const untilMs = performance.now() + stallingMs;
    const stalled = this.scene.random.chance(0.5) ? [this.any()] : names;
    await Promise.all(stalled.map((name) => this.stallOne(this.member(name), untilMs)));
  }

  private async stallOne(member: RealMember, untilMs: number): Promise<void> {
    while (performance.now() < untilMs) {
      await this.during([member.name], 'starved', 'had no processor', async () => {
        member.pause();
        await this.pass(stallMsMin, this.stallMsMax);
        member.resume();
      });
      await this.pass(stallMsMin, 4 * this.stallMsMax);
    }
  }

  /** From both others, or from one of them. */
  private async cutFromMembers(): Promise<void> {
    const { random, stage } = this.scene;
    const lonely = this.any();
    const others = names.filter((name) => name !== lonely);
    const cut = random.chance(0.5) ? others : [random.pick(others)];
    await this.during(
      [lonely, ...cut],
      'network',
      `was cut off (${lonely} from ${cut.join(' and ')})`,
      async () => {
        const heal = cut.map((name) => stage.namespaces?.cut(indexOf(lonely), indexOf(name)));
        await this.pass(1000, 8000);
        for (const undo of heal) undo?.();
      },
    );
  }

  /** For less than a lease or for more: then the others go on without it, and it goes on with the last view it had. */
  private async cutFromEtcd(): Promise<void> {
    const { stage } = this.scene;
    const lonely = this.any();
    const port = stage.etcd?.clientPortOf(0) ?? 0;
    await this.during([lonely], 'network', 'was cut off from etcd', async () => {
      const heal = stage.namespaces?.cutFromHost(indexOf(lonely), port);
      await this.pass(2000, 12_000);
      heal?.();
    });
  }

  /** As for an upgrade: no fault. */
  private async restart(): Promise<void> {
    const member = this.mortal();
    await this.during([member.name], 'stopped', 'was restarted', async () => {
      await member.stop();
      await member.start();
    });
  }

  private visit(): Promise<void> {
    return this.scene.stage.etcd === null ? this.visitByFile() : this.visitByEtcd();
  }

  private async visitByFile(): Promise<void> {
    const { cluster } = this.scene;
    const member = cluster.member(guest);
    await this.during([guest], 'planned', 'joined and left', async () => {
      cluster.writeMembers({ ...fixed, [guest]: 'joining' });
      await member.start();
      cluster.writeMembers({ ...fixed, [guest]: 'active' });
      await cluster.seeEachOther();
      await this.pass(2000, 4000);
      cluster.writeMembers({ ...fixed, [guest]: 'leaving' });
      const isEmpty = async (): Promise<boolean> => (await member.copies()) === 0;
      await until('nothing is left on the member that leaves', limitMs, isEmpty);
      cluster.writeMembers(fixed);
      await member.stop();
    });
  }

  private async visitByEtcd(): Promise<void> {
    const { cluster } = this.scene;
    const member = cluster.member(guest);
    await this.during([guest], 'planned', 'joined and left', async () => {
      await member.start();
      await cluster.seeEachOther();
      await this.pass(2000, 4000);
      await fetch(`${member.url}/cluster/drain`, { method: 'POST' });
      await until('the drained member has ended', limitMs, () => !member.running);
    });
  }

  /** Both are good for a while, then only the new one. */
  private async changeSecret(): Promise<void> {
    const { secretFile, cluster } = this.scene;
    const [old = ''] = readFileSync(secretFile, 'utf8').split('\n');
    const fresh = randomBytes(32).toString('hex');
    await this.during(names, 'planned', 'changed its secret', async () => {
      for (const secrets of [[old, fresh], [fresh, old], [fresh]]) {
        writeFileSync(`${secretFile}.new`, secrets.join('\n'));
        renameSync(`${secretFile}.new`, secretFile);
        for (const member of cluster.running) member.reload();
        await this.pass(1500, 2500);
      }
    });
  }

  private async during(
    members: readonly string[],
    kind: Kind,
    what: string,
    does: () => Promise<void>,
  ): Promise<void> {
    const over = this.scene.windows.begin(members, kind, what, performance.now());
    try {
      await does();
    } finally {
      over(performance.now());
    }
  }

  private any(): Name {
    return this.scene.random.pick(names);
  }

  private mortal(): RealMember {
    return this.member(this.scene.random.pick(names.slice(1)));
  }

  private member(name: Name): RealMember {
    return this.scene.cluster.member(name);
  }

  private async pass(msMin: number, msMax: number): Promise<void> {
    await sleep(msMin + this.scene.random.unit() * (msMax - msMin));
  }
}

function indexOf(name: Name): number {
  return names.indexOf(name);
}
