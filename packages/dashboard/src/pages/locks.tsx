/** Lock rings that the member can see in etcd: holder and waiters of each lock, and how many slots each member owns. */
import { getLocks } from '../api.ts';
import { count, counted } from '../format.ts';
import { useLoaded } from '../loaded.ts';
import { Badge, Empty, type Head, Loading, Panel, Share, Table, Wrong } from '../parts/parts.tsx';
import type { LockShape, RingShape } from '../parts/shapes.ts';

export function Locks() {
  const { data, error } = useLoaded('locks', getLocks, 2000);
  return (
    <>
      <h1>Locks</h1>
      <Wrong says={error} />
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <Rings connected={data.connected} rings={data.rings} />}
    </>
  );
}

function Rings(props: { readonly connected: boolean; readonly rings: readonly RingShape[] }) {
  if (!props.connected || props.rings.length === 0) {
    return (
      <div class="panel">
        <Empty title="No ring is connected">
          This member knows no etcd to look into. Locks live there and are taken by your own
          processes: start the member with <code>--etcd URL</code>, or with{' '}
          <code>--locks-etcd-endpoints URL</code>, and it shows them.
        </Empty>
      </div>
    );
  }
  return (
    <>
      <p class="lead">
        Locks that were taken with <code>carillon lock</code>, or with <code>durable: true</code>.
        Others are known to their holders only.
      </p>
      {props.rings.map((ring) => (
        <Ring key={ring.name} ring={ring} />
      ))}
    </>
  );
}

function Ring({ ring }: { readonly ring: RingShape }) {
  const { name, problem, slots, members } = ring;
  const shown = ring.locks.length;
  if (problem !== null || slots === null) {
    return (
      <Panel title={`Ring ${name}`}>
        <Wrong says={problem} />
        {problem === null ? (
          <Empty title="No process has opened this ring yet">
            <code>carillon lock KEY --ring {name} -- COMMAND</code> opens it.
          </Empty>
        ) : null}
      </Panel>
    );
  }
  return (
    <Panel
      title={`Ring ${name}`}
      note={`${counted(members.length, 'member')}, ${count(slots - (ring['free-slots'] ?? 0))} of ${count(slots)} slots owned`}
    >
      {shown === 0 ? <p class="dim">No lock is held.</p> : <LockTable locks={ring.locks} />}
      {shown < ring['lock-count'] ? (
        <p class="note">
          The first {count(shown)} of {count(ring['lock-count'])} are shown.
        </p>
      ) : null}
      {members.length === 0 ? null : <Owners ring={ring} />}
    </Panel>
  );
}

const heads: readonly Head[] = ['Key', 'Holder', { right: 'Token' }, 'Waiting'];

function LockTable({ locks }: { readonly locks: readonly LockShape[] }) {
  return (
    <Table heads={heads}>
      {locks.map(({ key, holder, token, waiters }) => (
        <tr key={key} data-lock={key}>
          <td>
            <strong>
              <bdi>{key}</bdi>
            </strong>
          </td>
          <td>
            {holder === null ? <span class="dim">none at this moment</span> : <bdi>{holder}</bdi>}
          </td>
          <td class="right number">{token ?? '–'}</td>
          <td>
            {waiters.length === 0 ? <span class="dim">none</span> : null}
            <ul class="waiters">
              {waiters.map((waiter) => (
                <li key={waiter}>
                  <bdi>{waiter}</bdi>
                </li>
              ))}
            </ul>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Owners({ ring }: { readonly ring: RingShape }) {
  return (
    <details class="owners">
      <summary>Members and their slots</summary>
      <table>
        <tbody>
          {ring.members.map(({ name, phase, slots }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <Badge word={phase} />
              </td>
              <td class="right number">{counted(slots, 'slot')}</td>
              <td>
                <Share ratio={slots / Math.max(1, ring.slots ?? 1)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
