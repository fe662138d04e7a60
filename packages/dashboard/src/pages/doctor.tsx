/** Findings about all members, each with advice, and the facts behind them. */
import { getBundle, getDoctor } from '../api.ts';
import { count, counted, instant, milliseconds, signed } from '../format.ts';
import { useLoaded } from '../loaded.ts';
import { Action, Badge, Empty, type Head, Loading, Panel, Table, Wrong } from '../parts/parts.tsx';
import { linksOf } from '../parts/cluster/finding-links.ts';
import type { DoctorFacts, DoctorShape, FindingShape, ShareShape } from '../parts/shapes.ts';

const againMs = 10_000;

export function Doctor() {
  const { data, error } = useLoaded('doctor', getDoctor, againMs);
  return (
    <>
      <div class="title">
        <h1>Doctor</h1>
        <Action label="Save a support bundle" run={saveBundle} />
      </div>
      <p class="lead">
        Every member is asked for its clock, disk, syncs, sockets, release, view, limits and failing
        receivers. The bundle holds findings, figures and options, and no secrets; read it before
        you send it.
      </p>
      <Wrong says={error} />
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <Diagnosis found={data} />}
    </>
  );
}

function Diagnosis({ found }: { readonly found: DoctorShape }) {
  const { findings, members, at } = found;
  return (
    <>
      <Panel
        title="Findings"
        note={`${findings.length === 0 ? 'none' : count(findings.length)}, at ${instant(at)}`}
      >
        {findings.length === 0 ? (
          <Empty title="All is well">No member has anything to complain about.</Empty>
        ) : (
          <ul class="findings">
            {findings.map((finding, i) => (
              <Finding key={`${finding.id} ${i}`} finding={finding} />
            ))}
          </ul>
        )}
      </Panel>
      <Panel title="Members" note={`${counted(members.length, 'member')} answered`}>
        <FactTable members={members} />
      </Panel>
    </>
  );
}

function Finding({ finding }: { readonly finding: FindingShape }) {
  return (
    <li data-finding={finding.id}>
      <Badge word={finding.weight} />
      <div>
        <p>
          <strong>{finding.says}</strong>
        </p>
        <p class="dim">{finding.do}</p>
        <p class="finding-links">
          {linksOf(finding).map(({ title, to }) => (
            <a key={to} href={to} aria-label={`${title}: ${finding.receiver ?? finding.id}`}>
              {title}
            </a>
          ))}
        </p>
      </div>
    </li>
  );
}

const heads: readonly Head[] = [
  'Member',
  'Release',
  { right: 'Clock' },
  { right: 'Disk free' },
  { right: 'Sync p99' },
  { right: 'Lag p99' },
  { right: 'Files' },
  { right: 'Connections' },
  { right: 'Records' },
  { right: 'Letters' },
];

function FactTable({ members }: { readonly members: readonly DoctorFacts[] }) {
  return (
    <Table heads={heads}>
      {members.map((member) => (
        <Facts key={member.name} member={member} />
      ))}
    </Table>
  );
}

function Facts({ member }: { readonly member: DoctorFacts }) {
  const offsetMs = member['clock-offset-ms'];
  return (
    <tr data-member={member.name}>
      <td>
        <a href={`#/topology/${encodeURIComponent(member.name)}`}>{member.name}</a>
      </td>
      <td>{member.release}</td>
      <td class="right number">{offsetMs === null ? '–' : signed(offsetMs)}</td>
      <td class="right number">{sizeText(member['disk-room']?.['free-bytes'])}</td>
      <td class="right number">{measured(member['fsync-p99-ms'])}</td>
      <td class="right number">{measured(member['lag-p99-ms'])}</td>
      <td class="right number">{shareText(member['open-files'])}</td>
      <td class="right number">{shareText(member.connections)}</td>
      <td class="right number">{shareText(member.timers)}</td>
      <td class="right number">{shareText(member.letters)}</td>
    </tr>
  );
}

function measured(ms: number | null): string {
  return ms === null ? '–' : milliseconds(ms);
}

function shareText(share: ShareShape | null): string {
  return share === null ? '–' : `${count(share.now)} of ${count(share.max)}`;
}

function sizeText(bytes: number | undefined): string {
  if (bytes === undefined) return '–';
  const GiB = bytes / 1024 ** 3;
  return GiB >= 1 ? `${GiB.toFixed(1)} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
}

/** As a file of the browser. */
async function saveBundle(): Promise<void> {
  const text = JSON.stringify(await getBundle(), null, 2);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = 'carillon-bundle.json';
  link.click();
  URL.revokeObjectURL(link.href);
}
