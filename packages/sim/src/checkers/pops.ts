/** Which pops of an operation were begun and which were delivered, as seen at the receivers. Shared by P2 and P4. */
import { bodyOf, numberOf, type Operation } from '../history.ts';
import type { Checker } from '../judge.ts';
import type { ReceivedCall } from '../world/calls.ts';

export class Pops implements Checker {
  private readonly begun = new Map<string, Map<number, ReceivedCall>>();
  private readonly calls = new Map<string, ReceivedCall[]>();

  onCall(call: ReceivedCall): void {
    const { sequence, missed } = call;
    // A request without a key that was repeated makes two timers; only one of them is known to the client.
    const key = `${call.number} ${call.body}`;
    let begun = this.begun.get(key);
    if (begun === undefined) {
      begun = new Map();
      this.begun.set(key, begun);
      this.calls.set(key, []);
    }
    for (let k = sequence - missed; k <= sequence; k++) if (!begun.has(k)) begun.set(k, call);
    this.calls.get(key)?.push(call);
  }

  /** The first callback that stood for this pop, alone or among missed ones. */
  first(operation: Operation, sequence: number): ReceivedCall | null {
    return this.begun.get(keyOf(operation))?.get(sequence) ?? null;
  }

  delivered(operation: Operation, sequence: number): boolean {
    const calls = this.calls.get(keyOf(operation)) ?? [];
    return calls.some(
      (call) =>
        call.effectMs !== null &&
        sequence <= call.sequence &&
        sequence >= call.sequence - call.missed,
    );
  }
}

function keyOf(operation: Operation): string {
  return `${numberOf(operation.timer)} ${bodyOf(operation)}`;
}
