/** One timer: when it pops next, its definition, its replicas, how its attempts went. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { getEnded, getTimer } from '../api.ts';
import { Timeline } from './history/timeline.tsx';
import {
  counted,
  countdown,
  instant,
  isLate,
  milliseconds,
  shortId,
  timingText,
  withoutStop,
} from '../format.ts';
import { nowMs } from '../live.ts';
import { useLoaded } from '../loaded.ts';
import { Badge, Empty, Loading, Panel, Wrong } from '../parts/parts.tsx';
import { Opaque } from '../parts/timers/opaque.tsx';
import type { TimerShape } from '../parts/shapes.ts';
import { endWords } from '../parts/timers/end-words.ts';
import { standingOf } from '../parts/timers/timer-table.tsx';
import { Tags } from '../parts/timers/tags.tsx';
import { TimerActions } from './timer-actions.tsx';
import { skewsOf } from '../parts/timers/skew.ts';

export function Timer({ id }: { readonly id: string }) {
  const last = useRef<TimerShape | null>(null);
  const { data, error, again } = useLoaded(id, () => getTimer(id), 1000);
  if (data !== undefined && data !== null) last.current = data;
  const timer = data ?? last.current;
  if (data === undefined && timer === null)
    return error === null ? <Loading /> : <Wrong says={error} />;
  if (timer === null) return <Gone id={id} />;
  const over = data === null;
  return (
    <>
      <p class="crumbs">
        <a href="#/timers">Timers</a>
      </p>
      <div class="title">
        <h1 class="mono">{shortId(timer.id)}</h1>
        <Badge word={over ? 'ended' : standingOf(timer)} />
        <span class="grow" />
        {over ? null : <TimerActions id={timer.id} again={again} />}
      </div>
      <Wrong says={error} />
      {over ? <Ended timer={timer} /> : <Clock timer={timer} />}
      {over ? null : <Failing timer={timer} />}
      <div class="columns">
        <Definition timer={timer} />
        <Replicas timer={timer} />
      </div>
      <Timeline id={timer.id} note={progressText(timer)} />
      <details class="panel">
        <summary>As the API gives it</summary>
        <pre tabIndex={0}>{JSON.stringify(timer, null, 2)}</pre>
      </details>
    </>
  );
}

/** An id that no live timer has: how the timer ended, as far as members remember, and its attempts. */
function Gone({ id }: { readonly id: string }) {
  const { data, error } = useLoaded(`ended ${id}`, () => getEnded(id), 5000);
  const words = endWords(data);
  return (
    <>
      <p class="crumbs">
        <a href="#/timers">Timers</a>
      </p>
      <div class="title">
        <h1 class="mono">{shortId(id)}</h1>
      </div>
      <div class="panel">
        <Wrong says={error} />
        {words !== '' && (
          <Empty title="This timer has ended">
            {words} <a href="#/timers">See all timers</a>.
          </Empty>
        )}
        {words === '' && data !== undefined && (
          <Empty title="No live timer has this id">
            It has ended, or there never was one.{' '}
            <a href={`#/timers?tag=${encodeURIComponent(id)}`}>Look for it as a tag</a>.
          </Empty>
        )}
      </div>
      <GivenUp letter={data?.['dead-letter']} says="The last pop of this timer was given up." />
      <Timeline id={id} note="as far as members remember" />
    </>
  );
}

/** A note on a timer that is tried again, or whose newest pop was given up. */
function Failing({ timer }: { readonly timer: TimerShape }) {
  const standing = standingOf(timer);
  const why = <Why outcome={timer['last-outcome']} detail={timer['last-detail']} />;
  if (standing === 'retrying') {
    return (
      <section class="health warn" role="status">
        <p>
          The present pop has failed {counted(timer.attempt, 'time')}, last with {why}.{' '}
          {isLate(Date.parse(timer['next-attempt'] ?? ''), nowMs.value)
            ? 'The next attempt waits: a receiver that keeps failing is left alone for a while.'
            : 'It is tried again.'}
        </p>
      </section>
    );
  }
  if (standing !== 'failing') return null;
  const says = (
    <>The newest pop failed ({why}) and was given up; the next one comes when it is due.</>
  );
  const letter = timer['dead-letter'];
  if (letter !== undefined) return <GivenUp letter={letter} says={says} />;
  return (
    <section class="health bad" role="status">
      <p>{says} Its dead letter was sent again or dropped.</p>
    </section>
  );
}

/** The words of the receiver alone stand apart: in another direction they would turn the status around them. */
function Why(props: {
  readonly outcome: TimerShape['last-outcome'];
  readonly detail: string | undefined;
}) {
  const { outcome, detail } = props;
  if (detail === undefined) return <>{String(outcome)}</>;
  return (
    <>
      {outcome}: <bdi>{withoutStop(detail)}</bdi>
    </>
  );
}

function GivenUp(props: { readonly letter: string | undefined; readonly says: ComponentChildren }) {
  const { letter, says } = props;
  if (letter === undefined) return null;
  return (
    <section class="health bad" role="status">
      <p>
        {says} <a href={`#/dead-letters/${letter}`}>Its dead letter</a> waits to be delivered again
        or dropped.
      </p>
    </section>
  );
}

/** A timer that ended while its page was open. */
function Ended({ timer }: { readonly timer: TimerShape }) {
  const { data } = useLoaded(`ended ${timer.id}`, () => getEnded(timer.id), 5000);
  return (
    <>
      <section class="health note" role="status">
        <p>
          This timer has ended. {endWords(data)} Below is what was last seen of it, after{' '}
          {counted(timer.sequence, 'pop')}.
        </p>
      </section>
      <GivenUp letter={data?.['dead-letter']} says="The last pop of this timer was given up." />
    </>
  );
}

/** The time to the next pop, large, and how much of the wait is over. */
function Clock({ timer }: { readonly timer: TimerShape }) {
  const next = timer['next-attempt'] ?? timer['next-due'];
  if (next === null) return null;
  const untilMs = Date.parse(next);
  const fromMs =
    timer.timing.interval === undefined
      ? Date.parse(timer.set)
      : untilMs - timer.timing.interval * 1000;
  const done = Math.min(1, Math.max(0, (nowMs.value - fromMs) / Math.max(1, untilMs - fromMs)));
  return (
    <section class="panel clock" aria-label="Next pop">
      <p class="row">
        <span>{timer.state === 'retrying' ? 'Tried again' : 'Pops'}</span>
        <strong class="countdown">{countdown(untilMs, nowMs.value)}</strong>
        <span class="grow" />
        <span class="dim">{instant(next)}</span>
      </p>
      <progress max={1} value={done} aria-label="Time gone of this wait" />
    </section>
  );
}

function Definition({ timer }: { readonly timer: TimerShape }) {
  const { http } = timer.callback;
  return (
    <Panel title="Definition">
      <dl class="pairs">
        <dt>Timing</dt>
        <dd>{timingText(timer.timing)}</dd>
        <dt>Callback</dt>
        <dd class="break">
          {http.method ?? 'POST'} <bdi>{http.uri}</bdi>
        </dd>
        <Headers headers={http.headers} />
        <dt>Opaque</dt>
        <dd>
          <Opaque text={http.opaque ?? ''} />
        </dd>
        <dt>Tags</dt>
        <dd>
          <Tags tags={timer.tags} />
        </dd>
        <dt>Set</dt>
        <dd>{instant(timer.set)}</dd>
        <dt>Timer id</dt>
        <dd class="break mono">{timer.id}</dd>
        <dt>Version</dt>
        <dd class="mono">{timer.version}</dd>
      </dl>
    </Panel>
  );
}

function Headers({
  headers = {},
}: {
  readonly headers?: Readonly<Record<string, string>> | undefined;
}) {
  const all = Object.entries(headers);
  if (all.length === 0) return null;
  return (
    <>
      <dt>Headers</dt>
      {all.map(([name, value]) => (
        <dd key={name} class="break mono">
          <bdi>
            {name}: {value}
          </bdi>
        </dd>
      ))}
    </>
  );
}

function Replicas({ timer }: { readonly timer: TimerShape }) {
  const wanted = timer.reliability['replication-factor'];
  return (
    <Panel
      title="Replicas"
      note={`${timer.replicas.length} of ${wanted}, in the order they would pop`}
    >
      <table>
        <thead>
          <tr>
            <th>Member</th>
            <th>Role</th>
            <th class="right">Skew</th>
          </tr>
        </thead>
        <tbody>
          {skewsOf(timer).map(({ member, role, skewMs }) => (
            <tr key={member}>
              <td>
                <a href={`#/topology/${encodeURIComponent(member)}`}>{member}</a>
              </td>
              <td>{role}</td>
              <td class="right number">
                {skewMs === null ? 'up to 2 s' : `+${milliseconds(skewMs)}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">A backup pops only if those before it did not.</p>
    </Panel>
  );
}

function progressText({ sequence, attempt, 'last-outcome': outcome }: TimerShape): string {
  const pops = `${counted(sequence, 'pop')} so far`;
  if (attempt > 0) return `${pops}, ${counted(attempt, 'failed attempt')} of the present one`;
  return outcome === null ? pops : `${pops}, the newest answer was ${outcome}`;
}
