/**
 * Examines the cluster: asks every member for facts, as attempts are asked for, and applies the rules to them. Any
 * member can be asked; one that does not answer is a finding itself.
 */
import { type Clock, labelSlips } from '@carillon/core';
import { labelLevels } from '@carillon/placement';
import type { ClusterView } from '../metrics/status.ts';
import { type MemberFacts, readFacts } from './facts.ts';
import { examine, type Finding, type Weight } from './rules.ts';

export interface Diagnosis {
  readonly atMs: number;
  /** The gravest finding; well: there is none but notes. */
  readonly verdict: 'well' | Exclude<Weight, 'note'>;
  readonly findings: readonly Finding[];
  readonly members: readonly MemberFacts[];
  readonly missing: readonly string[];
}

/** A member and its cluster on paper, without secrets. */
export interface Bundle {
  readonly diagnosis: Diagnosis;
  readonly cluster: ClusterView;
  readonly metrics: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface DoctorParts {
  readonly self: string;
  readonly clock: Clock;
  readonly factor: number;
  readonly cluster: () => ClusterView;
  /** Facts of this member. */
  readonly own: () => MemberFacts;
  /** Facts of another one, as it wrote them; null: it does not answer, or is of a release that tells none. */
  readonly ask: (name: string) => Promise<string | null>;
  readonly metrics: () => string;
  readonly config: () => Readonly<Record<string, unknown>>;
}

export class Doctor {
  private readonly parts: DoctorParts;

  constructor(parts: DoctorParts) {
    this.parts = parts;
  }

  async examine(): Promise<Diagnosis> {
    const { clock, cluster, factor } = this.parts;
    const { members: all, hot } = cluster();
    const slips = labelSlips(all, labelLevels);
    const asked = await Promise.all(
      all.map(async ({ name }) => ({ name, facts: await this.factsOf(name) })),
    );
    const members = asked.flatMap(({ name, facts }) =>
      facts === null ? [] : [{ ...facts, name }],
    );
    const missing = asked.filter(({ facts }) => facts === null).map(({ name }) => name);
    const findings = examine({ members, missing, hot, slips, factor });
    const gravest = findings[0]?.weight ?? 'note';
    const verdict = gravest === 'note' ? 'well' : gravest;
    return { atMs: clock.wall(), verdict, findings, members, missing };
  }

  async bundle(): Promise<Bundle> {
    const { cluster, metrics, config } = this.parts;
    const diagnosis = await this.examine();
    return { diagnosis, cluster: cluster(), metrics: metrics(), config: config() };
  }

  private async factsOf(name: string): Promise<MemberFacts | null> {
    const { self, own, ask } = this.parts;
    if (name === self) return own();
    const text = await ask(name);
    return text === null ? null : readFacts(text);
  }
}
