/**
 * Views handed out by the simulation: one list of members, changed by the operator, and learnt by each member at its
 * own time, as members of a real cluster do.
 */
import type { ViewMember, ViewSource, ViewSpec } from '@carillon/server/internal';
import type { SeededRandom } from '@carillon/core/testing';
import type { FaultLog } from './fault-log.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** Labels and weights of members, by name. */
export type Traits = Readonly<
  Record<string, { readonly labels: Readonly<Record<string, string>>; readonly weight: number }>
>;

interface Watcher {
  readonly process: Process;
  readonly onView: (spec: ViewSpec) => void;
}

export class Views {
  private readonly world: World;
  private readonly faults: FaultLog;
  private readonly random: SeededRandom;
  private readonly watchers = new Map<string, Watcher>();
  private spec: ViewSpec = { source: 'static', revision: 0, members: [] };
  /** A member learns of a change up to this much later. */
  delayMs = 0;
  /** By name, for members that are not like all others. */
  traits: Traits = {};

  constructor(options: { world: World; faults: FaultLog; random: SeededRandom }) {
    this.world = options.world;
    this.faults = options.faults;
    this.random = options.random;
  }

  get members(): readonly ViewMember[] {
    return this.spec.members;
  }

  /** How a member of this name is listed. */
  memberOf(name: string): ViewMember {
    return { ...viewMember(name), ...this.traits[name] };
  }

  /** `laterMs`: how much later a member learns of it, by name, where chance should not decide. */
  change(members: readonly ViewMember[], laterMs: Readonly<Record<string, number>> = {}): void {
    const { world, random } = this;
    this.spec = { source: 'static', revision: this.spec.revision + 1, members };
    const names = members.map(({ name, phase }) =>
      phase === 'active' ? name : `${name} ${phase}`,
    );
    world.trace.note(world.nowMs, `view ${names.join(', ')}`);
    const { spec } = this;
    for (const [name, { process, onView }] of this.watchers) {
      const atMs = world.nowMs + (laterMs[name] ?? random.unit() * this.delayMs);
      this.faults.begin(name, 'view', 'a new view', world.nowMs)(atMs);
      world.at(atMs, () => {
        // A later view may have come first.
        if (this.spec.revision >= spec.revision) process.arrive(() => onView(this.spec));
      });
    }
  }

  source(process: Process): ViewSource {
    return {
      start: async (onView) => {
        this.watchers.set(process.name, { process, onView });
        onView(this.spec);
      },
      ready: async () => {},
      leave: async () => {},
      stop: async () => {},
    };
  }
}

export function viewMember(
  name: string,
  labels: Readonly<Record<string, string>> = {},
): ViewMember {
  return {
    name,
    address: `${name}:7253`,
    peer: `${name}:7353`,
    phase: 'active',
    weight: 1,
    labels,
  };
}
