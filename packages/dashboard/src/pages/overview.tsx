/** The first view: findings, counts, charts, and the table of members. */
import { getDoctor } from '../api.ts';
import { CallbackResults } from '../parts/cluster/callback-results.tsx';
import { clusterFigures } from '../parts/cluster/cluster-figures.ts';
import { count, milliseconds, percent, rate } from '../format.ts';
import { lostMs } from '../live.ts';
import { useLoaded } from '../loaded.ts';
import { MemberTable } from '../parts/cluster/member-table.tsx';
import { Panel } from '../parts/parts.tsx';
import { PopCharts } from '../parts/charts/pop-charts.tsx';
import type { DoctorShape, MemberShape, Snapshot } from '../parts/shapes.ts';
import { mayChooseNamespace } from '../session.ts';
import { allWell, findings } from '../wrong.ts';

export function Overview({ now }: { readonly now: Snapshot }) {
  return (
    <>
      <h1>Overview</h1>
      <Health now={now} />
      <Figures now={now} />
      <PopCharts now={now} />
      <MemberTable now={now} />
      <div class="columns">
        <CallbackResults now={now} />
        <Copies now={now} />
      </div>
    </>
  );
}

const againMs = 10_000;
const none: DoctorShape = { at: '', findings: [], members: [] };

function Health({ now }: { readonly now: Snapshot }) {
  // The doctor answers only a token for all namespaces.
  const asks = mayChooseNamespace.value;
  const load = (): Promise<DoctorShape> => (asks ? getDoctor() : Promise.resolve(none));
  const { data } = useLoaded(`doctor ${asks}`, load, againMs);
  const found = findings(now, lostMs.value, data?.findings);
  const worst = found[0]?.weight ?? 'good';
  return (
    <section class={`health ${worst}`} aria-live="polite" aria-label="What is wrong">
      {found.length === 0 ? <p>{allWell(now)}</p> : null}
      {found.map(({ weight, says, link }) => (
        <p key={says} class={weight}>
          {says} {link === undefined ? null : <a href={link}>{linkName(link)}</a>}
        </p>
      ))}
    </section>
  );
}

/** Where a link leads, in words: several of them may stand below each other. */
function linkName(link: string): string {
  if (link.startsWith('#/dead-letters')) return 'See the dead letters';
  if (link === '#/doctor') return 'See the advice';
  return link.startsWith('#/timers') ? 'See these timers' : 'See the topology';
}

function Figures({ now }: { readonly now: Snapshot }) {
  const { members } = now.cluster;
  const { timers, letters, of, atLeast } = clusterFigures(members);
  const known = (figure: number): string => (atLeast ? `≥\u00a0${count(figure)}` : count(figure));
  const { sample, callbacks, self } = now;
  const late = largest(members, 'lateness-p99-ms');
  const lag = largest(members, 'lag-ms');
  return (
    <dl class="figures">
      <Figure name="Timers pending" value={known(timers)} note={of} />
      <Figure
        name="Pops per second"
        value={rate(sample.all.pops)}
        note={members.length === 1 ? 'last 10\u00a0s' : 'all members, last 10\u00a0s'}
      />
      <Figure
        name="Lateness p99"
        value={late === null ? '–' : milliseconds(late.ms)}
        note={late === null ? 'no pop in 10\u00a0s' : `at ${late.name}, last 10\u00a0s`}
      />
      <Figure
        name="Event loop lag"
        value={lag === null ? '–' : milliseconds(lag.ms)}
        note={lag === null ? 'not known' : `at ${lag.name}, last 10\u00a0s`}
      />
      <Figure
        name="Callbacks under way"
        value={count(callbacks['in-flight'])}
        note={`at ${self}, ${callbacks.queued > 0 ? count(callbacks.queued) : 'none'} waiting`}
      />
      <Figure name="Dead letters" value={known(letters)} note={of} />
    </dl>
  );
}

/** The member that is heard and has the largest value; null where none has any. */
function largest(
  members: readonly MemberShape[],
  what: 'lateness-p99-ms' | 'lag-ms',
): { readonly name: string; readonly ms: number } | null {
  let found: { name: string; ms: number } | null = null;
  for (const { name, load, reachable } of members) {
    const ms = load?.[what] ?? null;
    if (reachable && ms !== null && (found === null || ms > found.ms)) found = { name, ms };
  }
  return found;
}

function Figure(props: { readonly name: string; readonly value: string; readonly note: string }) {
  return (
    <div class="figure">
      <dt>{props.name}</dt>
      <dd>
        <strong>{props.value}</strong>
        <span class="note">{props.note}</span>
      </dd>
    </div>
  );
}

function Copies({ now }: { readonly now: Snapshot }) {
  const { resync, repair, revision, source, members } = now.cluster;
  const where = members.length === 1 ? '' : `at ${now.self}, `;
  const done = resync.total === 0 ? 1 : resync.checked / resync.total;
  return (
    <Panel title="Resync and repair" note={`${where}view ${revision} from ${source}`}>
      <p class="row">
        <span>{resync.running ? 'Resync is running' : 'No resync is running'}</span>
        <span class="number">{resync.running ? percent(done) : ''}</span>
      </p>
      {resync.running ? <progress max={1} value={done} aria-label="Resync progress" /> : null}
      <dl class="pairs">
        <dt>Records checked</dt>
        <dd>
          {count(resync.checked)} of {count(resync.total)}
        </dd>
        <dt>Records moved</dt>
        <dd>{count(resync.moved)}</dd>
        <dt>Not yet confirmed by their members</dt>
        <dd>{count(repair['unconfirmed-records'])}</dd>
        <dt>Not yet where the view wants them</dt>
        <dd>{count(repair['under-replicated'])}</dd>
      </dl>
    </Panel>
  );
}
