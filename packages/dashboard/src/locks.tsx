/** Locks of the ring. A member holds no ring connection today, and the page says so instead of showing zeros. */
import { Empty } from './parts.tsx';

export function Locks() {
  return (
    <>
      <h1>Locks</h1>
      <div class="panel">
        <Empty title="No ring is connected">
          This member takes part in no lock ring, so there are no holders, waiters and tokens to
          show. Locks live in etcd and are taken by your own processes:{' '}
          <code>carillon ring status --etcd …</code> lists who holds what.
        </Empty>
      </div>
    </>
  );
}
