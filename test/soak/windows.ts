/**
 * Faults with their times, members and reasons: explanations for the checker, and marks for the pictures. Times are
 * from `performance.now()`.
 */
import { noticeMs } from '../../packages/sim/src/world/fault-log.ts';

export type Kind =
  /** Killed, until it serves again. */
  | 'down'
  /** It stood still, because it was told to. */
  | 'paused'
  /** It wanted to run and got no processor: up to a second explains nothing, more counts as a pause. */
  | 'starved'
  /** Cut off from members or from etcd. */
  | 'network'
  /**
   * Told to end, until it serves again: no fault. A timer whose copies are all away may be late meanwhile; it explains
   * nothing else.
   */
  | 'stopped'
  /** A change of members or secrets as an operator makes it: no fault, and explains no broken promise. */
  | 'planned';

export const faultKinds = ['down', 'paused', 'starved', 'network'] as const;
export const anyKind = [...faultKinds, 'stopped', 'planned'] as const;
/** While one of these lasts, a member can do nothing for its timers. */
export const absences = ['down', 'paused', 'starved', 'stopped'] as const;

/** As long as a member must bear to be without a processor, plus the interval of the looks at it. */
const stallMsMax = 1100;

export interface Window {
  readonly member: string;
  readonly kind: Kind;
  readonly what: string;
  readonly fromMs: number;
  toMs: number;
}

export class Windows {
  readonly all: Window[] = [];

  /** Notes the beginning of a fault at some members; the returned function notes its end. */
  begin(
    members: readonly string[],
    kind: Kind,
    what: string,
    fromMs: number,
  ): (toMs: number) => void {
    const begun = members.map((member) => ({
      member,
      kind,
      what,
      fromMs,
      toMs: Number.POSITIVE_INFINITY,
    }));
    this.all.push(...begun);
    return (toMs) => {
      for (const window of begun) window.toMs = toMs;
    };
  }

  /** A member had no processor in this span. Spans that touch are one window. */
  starve(member: string, fromMs: number, toMs: number): void {
    const last = this.all.findLast((one) => one.kind === 'starved' && one.member === member);
    if (last !== undefined && fromMs <= last.toMs) {
      last.toMs = Math.max(last.toMs, toMs);
      return;
    }
    this.all.push({ member, kind: 'starved', what: 'had no processor', fromMs, toMs });
  }

  /** Windows of these kinds that share a moment with the span, at one member or anywhere. */
  touching(
    kinds: readonly Kind[],
    span: { readonly fromMs: number; readonly toMs: number },
    member?: string,
  ): Window[] {
    return this.all.filter(
      (one) =>
        kinds.includes(one.kind) &&
        one.fromMs <= span.toMs &&
        one.toMs >= span.fromMs &&
        (member === undefined || one.member === member),
    );
  }

  /**
   * Whether nothing was wrong and nothing was changed at this moment, nor so shortly before that members may not know
   * yet that it is over.
   */
  isQuiet(atMs: number): boolean {
    const span = { fromMs: atMs - noticeMs, toMs: atMs };
    return this.touching(anyKind, span).length === 0;
  }

  /** The members that were away at some moment of the span. */
  absentIn(span: { readonly fromMs: number; readonly toMs: number }): ReadonlySet<string> {
    const away = this.touching(absences, span).filter((window) => !isStall(window));
    return new Set(away.map(({ member }) => member));
  }

  /** How long a member had no processor, in all. */
  starvedMs(member: string): number {
    return this.all
      .filter((one) => one.kind === 'starved' && one.member === member)
      .reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  }

  /** The last fault before a moment, or the present one, in words. */
  lastBefore(atMs: number): string {
    const known = this.all.filter(({ fromMs }) => fromMs <= atMs);
    const last = known.toSorted((a, b) => a.toMs - b.toMs).at(-1);
    if (last === undefined) return 'nothing had been wrong before';
    const { member, what, fromMs, toMs } = last;
    const until = toMs > atMs ? 'and it lasted' : `until ${inSeconds(toMs)}`;
    return `last before that, ${member} ${what} from ${inSeconds(fromMs)} ${until}`;
  }
}

/** A member had no processor for a moment, which explains neither a late nor a repeated callback. */
export function isStall({ kind, fromMs, toMs }: Window): boolean {
  return kind === 'starved' && toMs - fromMs <= stallMsMax;
}

export function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
