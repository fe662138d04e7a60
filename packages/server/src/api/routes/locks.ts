/** `GET /locks`: the lock rings that this member can see in etcd. Nothing can be locked or released through it. */
import type { RingView } from '../../request/rings.ts';
import { type ApiResponse, jsonResponse } from '../../http/message.ts';
import type { Route } from '../router.ts';
import type { LocksJson } from '../schema/cluster.ts';

/** Locks shown of one ring; `lock-count` tells how many there are. */
const shownCountMax = 1000;

export type ReadRings = () => Promise<readonly RingView[]>;

/** `read`: null where no etcd is configured. */
export function lockRoutes(read: ReadRings | null): Route[] {
  return [
    // Keys of locks belong to no namespace.
    { method: 'GET', path: '/locks', needs: 'read', whole: true, handle: () => locks(read) },
  ];
}

async function locks(read: ReadRings | null): Promise<ApiResponse> {
  const rings = read === null ? [] : await read();
  const body: LocksJson = { connected: read !== null, rings: rings.map(render) };
  return jsonResponse(body, 200, ['cache-control', 'no-store']);
}

function render({ name, status, problem }: RingView): LocksJson['rings'][number] {
  const all = status?.locks ?? [];
  return {
    name,
    problem,
    slots: status?.config?.slots ?? null,
    'free-slots': status?.config === null ? null : (status?.free ?? null),
    members: (status?.members ?? []).map(({ id, phase, weight, slots }) => ({
      name: id,
      phase,
      weight,
      slots,
    })),
    'lock-count': all.length,
    locks: all.slice(0, shownCountMax).map(({ key, holder, token, waiters }) => ({
      key,
      holder,
      token,
      waiters: [...waiters],
    })),
  };
}
