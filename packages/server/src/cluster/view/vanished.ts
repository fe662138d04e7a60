/**
 * Members that went from the view without having said that they leave. Most of them are dead; one that only lost its
 * place in etcd runs on with its timers, and is told of changes and asked for its records, for as long as it is
 * remembered.
 */
import type { ViewMember } from './view.ts';

const rememberMs = 3_600_000;

export class Vanished {
  private readonly byName = new Map<string, { member: ViewMember; untilMs: number }>();

  get members(): readonly ViewMember[] {
    return Array.from(this.byName.values(), ({ member }) => member);
  }

  /** The members were `before` and are `now`. */
  update(before: readonly ViewMember[], now: readonly ViewMember[], nowMs: number): void {
    for (const member of before) {
      if (member.phase === 'leaving') continue;
      this.byName.set(member.name, { member, untilMs: nowMs + rememberMs });
    }
    for (const { name } of now) this.byName.delete(name);
    for (const [name, { untilMs }] of this.byName) if (untilMs <= nowMs) this.byName.delete(name);
  }
}
