/**
 * The clients' side of callbacks: receivers that answer, dawdle, fail or hang, and the history of every call that was
 * made to them. A receiver acts on a request when it arrives; its answer may still be lost on the way back.
 */
import type { CallbackRequest, CallbackResult, Callbacks } from '@carillon/core';
import type { SeededRandom } from '@carillon/core/testing';
import { type ReceivedCall, callsIn } from './calls.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

export type Manner =
  | {
      readonly does: 'answer';
      readonly status: number;
      readonly afterMs: number;
      readonly retryAfterMs?: number;
    }
  | { readonly does: 'hang' }
  | { readonly does: 'refuse' }
  /** Acts on the request, but the connection breaks before the answer is through. */
  | { readonly does: 'cut-after-effect' }
  /** Each request draws: half are answered 200, half 503. */
  | { readonly does: 'flap' };

export const wellMannered: Manner = { does: 'answer', status: 200, afterMs: 1 };

export class Receivers {
  readonly calls: ReceivedCall[] = [];
  /** Told of every call the moment it starts. */
  onCall: (call: ReceivedCall) => void = () => {};
  /** Pops that receivers say they take in a request; null: they say nothing. */
  togetherMax: number | null = null;
  private readonly world: World;
  private readonly random: SeededRandom;
  private readonly manners = new Map<string, Manner>();
  private readonly faultyUntil = new Map<string, number>();
  private readonly unreachable = new Set<string>();
  private readonly unreachableUntil = new Map<string, number>();

  constructor(options: { world: World; random: SeededRandom }) {
    this.world = options.world;
    this.random = options.random;
  }

  /** How a receiver behaves from now on. */
  behave(receiver: string, manner: Manner): void {
    if (this.manners.get(receiver) !== undefined) this.faultyUntil.set(receiver, this.world.nowMs);
    this.world.trace.note(this.world.nowMs, `${receiver} will ${JSON.stringify(manner)}`);
    if (manner === wellMannered) this.manners.delete(receiver);
    else this.manners.set(receiver, manner);
  }

  /** Makes a receiver unreachable from a member; the returned function undoes that. */
  hide(receiver: string, from: string): () => void {
    const key = `${from}>${receiver}`;
    this.unreachable.add(key);
    return () => {
      this.unreachable.delete(key);
      this.unreachableUntil.set(key, this.world.nowMs);
    };
  }

  /** Whether the receiver behaved well since `sinceMs`, and `from` could reach it. */
  wellSince(receiver: string, from: string, sinceMs: number): boolean {
    const key = `${from}>${receiver}`;
    if (this.manners.has(receiver) || this.unreachable.has(key)) return false;
    const faulty = this.faultyUntil.get(receiver) ?? Number.NEGATIVE_INFINITY;
    const hidden = this.unreachableUntil.get(key) ?? Number.NEGATIVE_INFINITY;
    return faulty < sinceMs && hidden < sinceMs;
  }

  /** The callbacks port of a process. */
  join(process: Process): Callbacks {
    let closed = false;
    const open = new Set<() => void>();
    return {
      call: (request, done) => {
        const calls = this.begin(process, request);
        const end = (result: CallbackResult): void => {
          if (!open.delete(cutOff)) return;
          cancel();
          for (const [i, call] of calls.entries()) this.end(call, ofLine(result, i));
          done(result);
        };
        const cutOff = (): void => end(noAnswer('cut'));
        open.add(cutOff);
        // An answer that came while the process stood still is read before the limit counts.
        const cancel = process.at(process.now() + request.limitMs, () =>
          process.soon(() => end(noAnswer('timeout'))),
        );
        if (closed) process.soon(() => end(closing));
        else this.travel(calls, process, (result) => process.arrive(() => end(result)));
      },
      close: () => {
        closed = true;
        for (const cutOff of open) cutOff();
        return Promise.resolve();
      },
    };
  }

  private begin(process: Process, request: CallbackRequest): ReceivedCall[] {
    const calls = callsIn(request, process.name, this.world.nowMs);
    for (const call of calls) {
      this.calls.push(call);
      this.world.trace.note(
        call.startMs,
        `${call.by} calls ${call.receiver} for ${call.popId} attempt ${call.attempt}`,
      );
      this.onCall(call);
    }
    return calls;
  }

  private end(call: ReceivedCall, result: CallbackResult): void {
    const { nowMs, trace } = this.world;
    call.result = result;
    call.endMs = nowMs;
    trace.note(nowMs, `${call.by} heard ${describe(result)} of ${call.popId}`);
  }

  /** Carries a request to its receiver, and the answer back. */
  private travel(
    calls: readonly ReceivedCall[],
    process: Process,
    answered: (result: CallbackResult) => void,
  ): void {
    const { world, random } = this;
    const wayMs = 0.2 + random.unit();
    const receiver = calls[0]?.receiver ?? '';
    world.after(wayMs, () => {
      if (this.unreachable.has(`${process.name}>${receiver}`)) {
        world.after(wayMs, () => answered(noAnswer('refused')));
        return;
      }
      const manner = this.manners.get(receiver) ?? wellMannered;
      const { afterMs, result } = this.react(manner, calls);
      if (result !== null) world.after(afterMs + wayMs, () => answered(result));
    });
  }

  /** A receiver that says that it takes several pops acts on each by itself, and says which failed. */
  private react(manner: Manner, calls: readonly ReceivedCall[]): Act {
    const first = this.act(manner);
    const { togetherMax } = this;
    const acts = calls.map((_, i) => (i === 0 || togetherMax === null ? first : this.act(manner)));
    for (const [i, call] of calls.entries())
      if (acts[i]?.takes === true) call.effectMs = this.world.nowMs;
    const failed = acts.flatMap(({ takes }, i) => (takes ? [] : [i]));
    const worst = acts[failed[0] ?? 0] ?? first;
    if (togetherMax === null || worst.result?.kind !== 'answer') return worst;
    const named = failed.length === 0 || calls.length < 2 ? null : failed;
    const together = { countMax: togetherMax, failed: named };
    return { ...worst, result: { ...worst.result, together } };
  }

  private act(manner: Manner): Act {
    switch (manner.does) {
      case 'answer':
        return answer(manner);
      case 'flap':
        return answer({ status: this.random.chance(0.5) ? 200 : 503, afterMs: 1 });
      case 'hang':
        return { takes: false, afterMs: 0, result: null };
      case 'refuse':
        return { takes: false, afterMs: 0, result: noAnswer('refused') };
      case 'cut-after-effect':
        return { takes: true, afterMs: 0, result: noAnswer('cut') };
    }
  }
}

/** The reaction of a receiver to a request. */
interface Act {
  /** Acts on it, and means 2xx. */
  readonly takes: boolean;
  readonly afterMs: number;
  /** null: no answer, ever. */
  readonly result: CallbackResult | null;
}

function answer(manner: {
  readonly status: number;
  readonly afterMs: number;
  readonly retryAfterMs?: number;
}): Act {
  const { status, afterMs, retryAfterMs = null } = manner;
  const takes = status >= 200 && status < 300;
  return { takes, afterMs, result: { kind: 'answer', status, retryAfterMs } };
}

const closing: CallbackResult = {
  kind: 'unmade',
  detail: 'The member is closing its connections.',
  waitMs: 1000,
};

/** The result of one line of a request, where the answer says which lines failed. */
function ofLine(result: CallbackResult, line: number): CallbackResult {
  const failed = result.kind === 'answer' ? (result.together?.failed ?? null) : null;
  if (failed === null || failed.includes(line)) return result;
  return { kind: 'answer', status: 200, retryAfterMs: null };
}

function noAnswer(reason: 'cut' | 'timeout' | 'refused'): CallbackResult {
  return { kind: 'no-answer', reason, detail: 'As the simulation has it.' };
}

function describe(result: CallbackResult): string {
  if (result.kind === 'answer') return String(result.status);
  return result.kind === 'unmade' ? result.detail : result.reason;
}
