/** How the callbacks of a timer went, newest first, from whichever member made them. */
import { getAttempts } from '../api.ts';
import { instant, milliseconds } from '../format.ts';
import { useLoaded } from '../loaded.ts';
import { Loading, Panel, Wrong } from '../parts/parts.tsx';
import type { AttemptShape } from '../parts/shapes.ts';

export function Attempts({ id, note }: { readonly id: string; readonly note: string }) {
  const { data, error } = useLoaded(id, () => getAttempts(id), 1500);
  return (
    <Panel title="Attempts" note={note}>
      <Wrong says={error} />
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <History attempts={data.attempts} />}
      {data === undefined || data.missing.length === 0 ? null : (
        <p class="note">{data.missing.join(', ')} did not answer; attempts may be missing here.</p>
      )}
    </Panel>
  );
}

function History({ attempts }: { readonly attempts: readonly AttemptShape[] }) {
  if (attempts.length === 0) {
    return (
      <p class="dim">
        None that a member remembers. Members keep the newest ones in memory, until they restart.
      </p>
    );
  }
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th class="right">Pop</th>
            <th class="right">Attempt</th>
            <th>Answer</th>
            <th>When</th>
            <th class="right">Lateness</th>
            <th class="right">Took</th>
            <th>Member</th>
          </tr>
        </thead>
        <tbody>
          {attempts.toReversed().map((attempt) => (
            <Line
              key={`${attempt.member} ${attempt.at} ${attempt.pop} ${attempt.attempt}`}
              attempt={attempt}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ attempt }: { readonly attempt: AttemptShape }) {
  const { status, member } = attempt;
  const isGood = typeof status === 'number' && status >= 200 && status < 300;
  return (
    <tr data-attempt={`${attempt.pop}.${attempt.attempt}`}>
      <td class="right number">{attempt.pop}</td>
      <td class="right number">{attempt.attempt}</td>
      <td>
        <span class={`badge ${isGood ? 'good' : 'bad'}`}>{status}</span>
        {attempt.detail === undefined || attempt.detail === '' ? null : (
          <bdi class="said">{attempt.detail}</bdi>
        )}
      </td>
      <td class="number">{instant(attempt.at)}</td>
      <td class="right number">{milliseconds(attempt['lateness-ms'])}</td>
      <td class="right number">{milliseconds(attempt['took-ms'])}</td>
      <td>
        <a href={`#/topology/${encodeURIComponent(member)}`}>{member}</a>
      </td>
    </tr>
  );
}
