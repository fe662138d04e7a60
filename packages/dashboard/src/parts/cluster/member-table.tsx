/** The table of members: one line for each member of the view, as the serving member sees it. */
import { count, counted, milliseconds, rate, signed } from '../../format.ts';
import { shareOf } from './cluster-figures.ts';
import { Badge, type Head, Panel, Share, Table } from '../parts.tsx';
import type { MemberShape, Snapshot } from '../shapes.ts';

const heads: readonly Head[] = [
  'Member',
  'Phase',
  { right: 'Timers held' },
  { right: 'As primary' },
  'Share of copies',
  { right: 'Pops/s' },
  { right: 'Late p99' },
  { right: 'Lag' },
  { right: 'Clock offset' },
  'Labels',
];

export function MemberTable({ now }: { readonly now: Snapshot }) {
  const { members } = now.cluster;
  const total = members.reduce((sum, { timers }) => sum + (timers ?? 0), 0);
  return (
    <Panel title="Members" note={`${counted(members.length, 'member')}, as ${now.self} sees them`}>
      <Table heads={heads}>
        {members.map((member) => (
          <Line key={member.name} member={member} total={total} />
        ))}
      </Table>
    </Panel>
  );
}

function Line({ member, total }: { readonly member: MemberShape; readonly total: number }) {
  const offsetMs = member['clock-offset-ms'];
  // The last known load of a silent member is out of date.
  const load = member.reachable ? member.load : null;
  return (
    <tr class={member.reachable ? '' : 'silent'} data-member={member.name}>
      <td>
        <a href={`#/topology/${encodeURIComponent(member.name)}`}>{member.name}</a>
        {member.self ? <span class="note"> this one</span> : null}
      </td>
      <td>
        <Badge word={member.reachable ? member.phase : 'silent'} />
      </td>
      <td class="right number">{member.timers === null ? '–' : count(member.timers)}</td>
      <td class="right number">{member.primaries === null ? '–' : count(member.primaries)}</td>
      <td>
        <Share ratio={shareOf([member], total)} />
      </td>
      <td class="right number">{load === null ? '–' : rate(load['pops-per-second'])}</td>
      <td class="right number">{measured(load?.['lateness-p99-ms'])}</td>
      <td class="right number">{measured(load?.['lag-ms'])}</td>
      <td class="right number">
        {offsetMs === null || !member.reachable ? '–' : signed(offsetMs)}
      </td>
      <td class="dim">{labelText(member)}</td>
    </tr>
  );
}

function measured(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '–' : milliseconds(ms);
}

function labelText({ labels }: MemberShape): string {
  const entries = Object.entries(labels);
  return entries.length === 0 ? '–' : entries.map(([key, value]) => `${key} ${value}`).join(', ');
}
