/** The contract of the callbacks port, run on real connections and in virtual time. */
import { afterEach, describe, expect, it } from 'vitest';
import type { CallbackRequest, CallbackResult, Callbacks } from '../env.ts';

/** Behaviour of the receiver behind a uri. */
export type ReceiverKind = 'answers-204' | 'answers-503-after-7s' | 'hangs' | 'cuts' | 'refuses';

export interface CallbacksRig {
  readonly callbacks: Callbacks;
  /** A uri whose receiver behaves like that. */
  uri(kind: ReceiverKind): string;
  /** Lets `ms` pass on the port's clock. */
  pass(ms: number): Promise<void>;
  /** Resolves once `holds` does, giving the outside world time to act. */
  until(holds: () => boolean): Promise<void>;
  dispose(): Promise<void>;
}

export function callbacksContract(name: string, make: () => Promise<CallbacksRig>): void {
  describe(`Callbacks contract: ${name}`, () => {
    let rig: CallbacksRig;
    afterEach(() => rig.dispose());

    function call(kind: ReceiverKind): CallbackResult[] {
      const results: CallbackResult[] = [];
      rig.callbacks.call(request(rig.uri(kind)), (result) => results.push(result));
      expect(results, 'done was called inside call').toEqual([]);
      return results;
    }

    it.each([
      ['answers-204', { kind: 'answer', status: 204, retryAfterMs: null }],
      ['answers-503-after-7s', { kind: 'answer', status: 503, retryAfterMs: 7000 }],
      ['cuts', { kind: 'no-answer', reason: 'cut' }],
      ['refuses', { kind: 'no-answer', reason: 'refused' }],
    ] as const)('%s: one result', async (kind, expected) => {
      rig = await make();
      const results = call(kind);
      await rig.until(() => results.length > 0);
      await rig.pass(60_000);
      expect(results).toMatchObject([expected]);
    });

    it('a receiver that hangs ends as a timeout at the limit, and not before', async () => {
      rig = await make();
      const results = call('hangs');
      await rig.pass(999);
      expect(results).toEqual([]);
      await rig.pass(1);
      expect(results).toMatchObject([{ kind: 'no-answer', reason: 'timeout' }]);
      await rig.pass(60_000);
      expect(results).toHaveLength(1);
    });

    it('one hanging receiver does not hold up another', async () => {
      rig = await make();
      const hanging = call('hangs');
      const answered = call('answers-204');
      await rig.until(() => answered.length > 0);
      expect(hanging).toEqual([]);
    });

    it('close cuts requests in flight; later calls are not made', async () => {
      rig = await make();
      const before = call('hangs');
      await rig.callbacks.close();
      await rig.until(() => before.length > 0);
      const after = call('answers-204');
      await rig.until(() => after.length > 0);
      await rig.pass(60_000);
      expect(before).toMatchObject([{ kind: 'no-answer', reason: 'cut' }]);
      expect(after).toMatchObject([{ kind: 'unmade' }]);
    });
  });
}

function request(uri: string): CallbackRequest {
  const { origin, pathname: path } = new URL(uri);
  return {
    uri,
    split: { origin, path },
    namespace: 'default',
    method: 'POST',
    headers: { 'x-a': 'b' },
    body: Uint8Array.of(1),
    limitMs: 1000,
  };
}
