/** The tree of domains and members with each one's share; a chosen member with its peers and timers. */
import { levelsOf } from '@carillon/placement';
import { useMemo } from 'preact/hooks';
import { shareOf } from '../parts/cluster/cluster-figures.ts';
import {
  type Domain,
  domainTree,
  expectedShares,
  membersBelow,
  placedMembers,
} from '../parts/cluster/domains.ts';
import { count, counted, milliseconds, percent, rate, signed } from '../format.ts';
import { Held } from './held.tsx';
import { Badge, Panel, Share } from '../parts/parts.tsx';
import type { ClusterShape, MemberShape, Snapshot } from '../parts/shapes.ts';

interface Shares {
  readonly total: number;
  readonly expected: ReadonlyMap<string, number>;
}

export function Topology(props: { readonly now: Snapshot; readonly selected: string }) {
  const { cluster, factor } = props.now;
  const { members } = cluster;
  const shares = useShares(cluster, factor);
  const chosen = members.find(({ name }) => name === props.selected);
  const levels = levelsOf(members);
  return (
    <>
      <h1>Topology</h1>
      <p class="lead">
        {counted(members.length, 'member')}
        {levels.length === 0
          ? ' without labels: every member is a domain of its own.'
          : `; replicas of a timer spread over ${levels.join(', then ')}.`}{' '}
        The mark on a bar is the share that placement aims at.
      </p>
      <div class="tree">
        <Branch domain={domainTree(members)} shares={shares} selected={props.selected} />
      </div>
      {chosen === undefined ? null : <Chosen member={chosen} now={props.now} />}
    </>
  );
}

function useShares(cluster: ClusterShape, factor: number): Shares {
  const total = cluster.members.reduce((sum, { timers }) => sum + (timers ?? 0), 0);
  const active = placedMembers(cluster);
  const key = JSON.stringify(active.map(({ name, weight, labels }) => [name, weight, labels]));
  const expected = useMemo(() => expectedShares(active, factor), [key, factor]);
  return { total, expected };
}

interface BranchProps {
  readonly domain: Domain<MemberShape>;
  readonly shares: Shares;
  readonly selected: string;
}

function Branch({ domain, shares, selected }: BranchProps) {
  const inside = membersBelow(domain);
  const expected = inside.reduce((sum, { name }) => sum + (shares.expected.get(name) ?? 0), 0);
  const body = (
    <>
      {domain.domains.map((inner) => (
        <Branch key={inner.name} domain={inner} shares={shares} selected={selected} />
      ))}
      {domain.members.map((member) => (
        <Leaf
          key={member.name}
          member={member}
          shares={shares}
          selected={member.name === selected}
        />
      ))}
    </>
  );
  if (domain.level === '') return <div class="branches top">{body}</div>;
  return (
    <section class="domain" aria-label={`${domain.level} ${domain.name}`}>
      <header>
        <span class="level">{domain.level}</span> <strong>{domain.name}</strong>
        <Share ratio={shareOf(inside, shares.total)} expected={expected} />
      </header>
      <div class="branches">{body}</div>
    </section>
  );
}

function Leaf(props: {
  readonly member: MemberShape;
  readonly shares: Shares;
  readonly selected: boolean;
}) {
  const { member, shares, selected } = props;
  const expected = shares.expected.get(member.name) ?? 0;
  return (
    <a
      class={`leaf ${member.reachable ? '' : 'silent'}`}
      href={selected ? '#/topology' : `#/topology/${encodeURIComponent(member.name)}`}
      aria-current={selected ? 'true' : undefined}
      data-member={member.name}
    >
      <span class="row">
        <strong>{member.name}</strong>
        <Badge word={member.reachable ? member.phase : 'silent'} />
      </span>
      <span class="dim">
        {member.timers === null
          ? 'timers not known'
          : `${counted(member.timers, 'timer')}, ${count(member.primaries ?? 0)} as primary`}
      </span>
      <Share ratio={shareOf([member], shares.total)} expected={expected} />
      <span class="dim">aims at {percent(expected)}</span>
    </a>
  );
}

function Chosen({ member, now }: { readonly member: MemberShape; readonly now: Snapshot }) {
  const offsetMs = member['clock-offset-ms'];
  return (
    <Panel
      title={member.name}
      note={
        member.self ? (
          'the member that serves this page'
        ) : (
          <a href={`${location.protocol}//${member.address}/`}>open its own dashboard</a>
        )
      }
    >
      <dl class="pairs">
        <dt>Address</dt>
        <dd>{member.address}</dd>
        <dt>Weight</dt>
        <dd>{member.weight}</dd>
        <dt>Clock offset against {now.self}</dt>
        <dd>{offsetMs === null ? 'not known' : signed(offsetMs)}</dd>
        <dt>Pops a second</dt>
        <dd>{member.load === null ? 'not known' : rate(member.load['pops-per-second'])}</dd>
        <dt>Lateness p50, p99</dt>
        <dd>{lateness(member)}</dd>
      </dl>
      <h3>Peers</h3>
      <Peers member={member} now={now} />
      <h3>Timers it holds</h3>
      <Held key={member.name} name={member.name} />
    </Panel>
  );
}

function lateness({ load }: MemberShape): string {
  const p50 = load?.['lateness-p50-ms'] ?? null;
  const p99 = load?.['lateness-p99-ms'] ?? null;
  if (p50 === null || p99 === null) return 'no pop in the last ten seconds';
  return `${milliseconds(p50)}, ${milliseconds(p99)}`;
}

/**
 * The serving member knows only for itself which peers answer, so the peers of other members are shown without a state.
 */
function Peers({ member, now }: { readonly member: MemberShape; readonly now: Snapshot }) {
  const others = now.cluster.members.filter(({ name }) => name !== member.name);
  if (others.length === 0) return <p class="dim">None: it is alone.</p>;
  return (
    <>
      <ul class="chips">
        {others.map((peer) => (
          <li key={peer.name}>
            <a href={`#/topology/${encodeURIComponent(peer.name)}`}>{peer.name}</a>{' '}
            {member.self ? <Badge word={peer.reachable ? peer.phase : 'silent'} /> : null}
          </li>
        ))}
      </ul>
      {member.self ? null : (
        <p class="note">Which of them answer {member.name} is told by its own dashboard.</p>
      )}
    </>
  );
}
