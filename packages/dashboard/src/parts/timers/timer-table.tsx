/** Timers as a table, with the time to their next pop running down. */
import { countdown, shortId, timingText } from '../../format.ts';
import { nowMs } from '../../live.ts';
import { Badge, type Head, Table } from '../parts.tsx';
import { Tags } from './tags.tsx';
import type { TimerShape } from '../shapes.ts';

const heads: readonly Head[] = [
  'Timer',
  'State',
  'Next try',
  'Last answer',
  'Timing',
  'Callback',
  'Tags',
  { right: 'Pops' },
  'Replicas',
];

export function TimerTable({ timers }: { readonly timers: readonly TimerShape[] }) {
  return (
    <Table heads={heads}>
      {timers.map((timer) => (
        <Line key={timer.id} timer={timer} />
      ))}
    </Table>
  );
}

function Line({ timer }: { readonly timer: TimerShape }) {
  return (
    <tr data-timer={shortId(timer.id)}>
      <td>
        <a class="mono" href={`#/timers/${timer.id}`} title={timer.id}>
          {shortId(timer.id)}
        </a>
      </td>
      <td>
        <Badge word={standingOf(timer)} />
      </td>
      <td class="number">
        <NextPop timer={timer} />
      </td>
      <td>
        <LastAnswer timer={timer} />
      </td>
      <td class="timing" title={timingText(timer.timing)}>
        {timingText(timer.timing)}
      </td>
      <td class="uri" title={timer.callback.http.uri}>
        <bdi>{timer.callback.http.uri.replace(/^https?:\/\//, '')}</bdi>
      </td>
      <td>
        <Tags tags={timer.tags} />
      </td>
      <td class="right number">{timer.sequence}</td>
      <td class="dim names" title={timer.replicas.join(', ')}>
        {timer.replicas.join(', ')}
      </td>
    </tr>
  );
}

/** The state of a timer; one that waits for its next pop although the one before was given up is not well. */
export function standingOf(timer: TimerShape): string {
  const isFailing = timer.state === 'pending' && (timer['last-failure'] ?? null) !== null;
  return isFailing ? 'failing' : timer.state;
}

function LastAnswer({ timer }: { readonly timer: TimerShape }) {
  const outcome = timer['last-outcome'];
  if (outcome === null) return <span class="dim">–</span>;
  const isBad = (timer['last-failure'] ?? null) !== null;
  const detail = timer['last-detail'];
  return (
    <>
      <span class={`badge ${isBad ? 'bad' : 'good'}`}>{outcome}</span>
      {timer.attempt > 0 ? <span class="note"> attempt {timer.attempt}</span> : null}
      {detail === undefined ? null : (
        <bdi class="said brief" title={detail}>
          {detail}
        </bdi>
      )}
    </>
  );
}

/** By itself, so that only this text is drawn anew a few times a second. */
function NextPop({ timer }: { readonly timer: TimerShape }) {
  const next = timer['next-attempt'] ?? timer['next-due'];
  return <>{next === null ? '–' : countdown(Date.parse(next), nowMs.value)}</>;
}
