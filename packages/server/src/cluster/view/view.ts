/**
 * A view: the members, and therefore the replicas of every number. Compiled once from a list of members, immutable; a
 * change of membership makes a new one.
 *
 * V1  Equal members give an equal view, in any order of the list: same id, same placements.
 * V2  Only active members are given timers. A joining one coordinates; a leaving one hands its records on. (One that a
 *     members file calls joining is active here as soon as it answers: see cluster.ts.)
 */
import { invariant, labelSlips } from '@carillon/core';
import {
  type Bloom,
  bloomBits,
  bloomHas,
  bloomUnion,
  compareNames,
  compileLabelled,
  emptyBloom,
  hashText,
  hotMembers,
  labelLevels,
  labelsAlgorithm,
  placementId,
  type Placer,
} from '@carillon/placement';

export type Phase = 'joining' | 'active' | 'leaving';

export interface ViewMember {
  readonly name: string;
  /** Where clients reach it: host:port. */
  readonly address: string;
  /** Where other members reach it: host:port. */
  readonly peer: string;
  readonly phase: Phase;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
}

export interface ViewSpec {
  /** Where it came from, in a word: alone, static, etcd. */
  readonly source: string;
  /** Rises with each change that this member saw. */
  readonly revision: number;
  readonly members: readonly ViewMember[];
  /** No longer members, without having said that they leave: they may run on and hold timers. */
  readonly vanished?: readonly ViewMember[];
}

/** Lists of names up to this length are kept and shared between records. */
const sharedLengthMax = 5;

export class View {
  readonly id: string;
  readonly source: string;
  readonly revision: number;
  /** In name order. */
  readonly members: readonly ViewMember[];
  readonly vanished: readonly ViewMember[];
  /** The rule that places timers on the active members: members with labels have one of their own. */
  readonly placementId: string;
  private readonly placer: Placer;
  private readonly byName: ReadonlyMap<string, ViewMember>;
  private readonly bits: ReadonlyMap<string, Bloom>;
  private readonly numbers: ReadonlyMap<string, number>;
  private readonly picks: Int32Array;
  private readonly lists = new Map<number, readonly string[]>();
  private readonly namesByPhase: Readonly<Record<Phase, readonly string[]>>;

  constructor(spec: ViewSpec) {
    this.source = spec.source;
    this.revision = spec.revision;
    this.members = spec.members.toSorted((a, b) => compareNames(a.name, b.name));
    this.byName = new Map(this.members.map((member) => [member.name, member]));
    this.vanished = spec.vanished ?? [];
    const all = [...this.members, ...this.vanished];
    this.bits = new Map(all.map(({ name }) => [name, bloomBits(name)]));
    this.numbers = memberNumbers(this.members);
    const active = this.members.filter(({ phase }) => phase === 'active');
    this.placementId = placementId(active);
    this.placer = compileLabelled(active, this.placementId);
    this.picks = new Int32Array(Math.max(1, active.length));
    this.id = viewId(this.placementId, this.members);
    const namesIn = (wanted: Phase): readonly string[] =>
      this.members.filter(({ phase }) => phase === wanted).map(({ name }) => name);
    this.namesByPhase = {
      joining: namesIn('joining'),
      active: namesIn('active'),
      leaving: namesIn('leaving'),
    };
    invariant(this.byName.size === this.members.length, 'a view lists a member once');
  }

  /** Whether timers are placed by the labels of members. */
  get hasLabels(): boolean {
    return this.placementId === labelsAlgorithm;
  }

  /** A sentence for each member that holds more than its weight asks for, because copies are in distinct domains. */
  hotSentences(factor: number): readonly string[] {
    const active = this.members.filter(({ phase }) => phase === 'active');
    return hotMembers(active, factor).map(({ says }) => says);
  }

  /** A sentence for each label whose name looks misspelt. */
  slipSentences(): readonly string[] {
    return labelSlips(this.members, labelLevels);
  }

  /** How many members can be given timers. */
  get activeCount(): number {
    return this.placer.names.length;
  }

  member(name: string): ViewMember | undefined {
    return this.byName.get(name);
  }

  /** Whether it is a member, or has vanished and may run on. */
  isKnown(name: string): boolean {
    return this.byName.has(name) || this.vanished.some((one) => one.name === name);
  }

  /** Members in this phase, in name order. */
  namesIn(wanted: Phase): readonly string[] {
    return this.namesByPhase[wanted];
  }

  /** Where a member listens for others, or one that vanished. */
  peerOf(name: string): string | undefined {
    const member = this.byName.get(name) ?? this.vanished.find((one) => one.name === name);
    return member?.peer;
  }

  /** The 10 bits that keep this member's numbers and versions apart from others'. */
  numberOf(name: string): number {
    return this.numbers.get(name) ?? hashText(name, 0) & 1023;
  }

  /** The first `count` members for a number, primary first; fewer when there are fewer. */
  place(hi: number, lo: number, count: number): readonly string[] {
    const { names } = this.placer;
    const length = this.placer.pick(hi, lo, Math.min(count, names.length), this.picks);
    if (length > sharedLengthMax) return this.names(length);
    let key = 0;
    for (let i = 0; i < length; i++) key = key * 1024 + ((this.picks[i] as number) + 1);
    const shared = this.lists.get(key);
    if (shared !== undefined) return shared;
    const list = this.names(length);
    invariant(new Set(list).size === length, 'no member is placed twice');
    if (names.length < 1023) this.lists.set(key, list);
    return list;
  }

  /** The filter that goes into a timer's id. */
  bloomOf(names: readonly string[]): Bloom {
    let bloom = emptyBloom;
    for (const name of names) bloom = bloomUnion(bloom, this.bits.get(name) ?? bloomBits(name));
    return bloom;
  }

  /** Members, and vanished ones, whose bits are all in the filter: holders of the timer, and a few others by chance. */
  heldBy(bloom: Bloom): readonly string[] {
    if (bloom.hi === 0 && bloom.lo === 0) return [];
    const names: string[] = [];
    for (const [name, bits] of this.bits) if (bloomHas(bloom, bits)) names.push(name);
    return names;
  }

  private names(length: number): readonly string[] {
    return Array.from({ length }, (_, i) => this.placer.names[this.picks[i] as number] as string);
  }
}

/** Ten bits of the name's hash; in name order, one that is taken moves up to the next free value. */
function memberNumbers(members: readonly ViewMember[]): ReadonlyMap<string, number> {
  const taken = new Set<number>();
  const numbers = new Map<string, number>();
  for (const { name } of members) {
    let number = hashText(name, 0) & 1023;
    while (taken.has(number) && taken.size < 1024) number = (number + 1) & 1023;
    taken.add(number);
    numbers.set(name, number);
  }
  return numbers;
}

function viewId(placement: string, members: readonly ViewMember[]): string {
  const text = JSON.stringify([
    placement,
    members.map((member) => [
      member.name,
      member.address,
      member.peer,
      member.phase,
      member.weight,
      Object.entries(member.labels).toSorted(([a], [b]) => compareNames(a, b)),
    ]),
  ]);
  const half = (seed: number): string => hashText(text, seed).toString(16).padStart(8, '0');
  return half(1) + half(2);
}
