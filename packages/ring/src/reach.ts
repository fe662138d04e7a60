/** Whether an etcd is there at all, told within a second. */
import { type Etcd, EtcdError } from './etcd/etcd.ts';

const reachMs = 800;
/** Codes of failed connections that mean: nothing is there. */
const unreached = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * Rejects within a second, in a sentence, where no connection comes about. An etcd that is only slow, to make a secure
 * connection or to check a password, gets its time later.
 */
export async function reach(etcd: Etcd, endpoints: readonly string[] = []): Promise<void> {
  try {
    await etcd.txn({ when: [], success: [{ get: 'reach' }], failure: [] }, reachMs);
  } catch (error) {
    if (!(error instanceof EtcdError) || error.kind !== 'not-sent') return;
    const { cause } = error;
    if (!(cause instanceof Error) || cause instanceof EtcdError) return;
    const where = endpoints.length === 0 ? 'the given address' : endpoints.join(', ');
    const { code } = cause as NodeJS.ErrnoException;
    const why = unreached.includes(code ?? '')
      ? `no etcd listens at ${where}`
      : `no connection to ${where}: ${cause.message}`;
    throw new EtcdError('not-sent', `ring: ${why}.`, { cause: error });
  }
}
