/** Answers of receivers to callbacks of all members since these started, as bars. */
import { count, percent } from '../../format.ts';
import { clusterFigures } from './cluster-figures.ts';
import { Panel } from '../parts.tsx';
import type { Snapshot } from '../shapes.ts';

const words: Readonly<Record<string, string>> = {
  '2xx': '2xx success',
  '3xx': '3xx redirect',
  '4xx': '4xx refusal',
  '5xx': '5xx failure',
  refused: 'connection refused',
  timeout: 'no answer in time',
  unresolvable: 'name not resolvable',
  forbidden: 'address not allowed',
  cut: 'connection cut',
  tls: 'certificate not trusted',
};

export function CallbackResults({ now }: { readonly now: Snapshot }) {
  const { answers, of, atLeast } = clusterFigures(now.cluster.members);
  const all = Object.entries(answers).filter(([, n]) => n > 0);
  const total = all.reduce((sum, [, n]) => sum + n, 0);
  return (
    <Panel title="Callbacks by result" note={`${of}, since each member started`}>
      {total === 0 && !atLeast ? <p class="dim">No callback yet.</p> : null}
      <ul class="bars">
        {all
          .toSorted(([, a], [, b]) => b - a)
          .map(([result, n]) => (
            <li key={result}>
              <span>{words[result] ?? result}</span>
              <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="track" width="100" height="8" />
                <rect
                  class={result === '2xx' ? 'fill' : 'fill bad'}
                  width={Math.max(0.8, (n / total) * 100)}
                  height="8"
                />
              </svg>
              <span class="number">{percent(n / total)}</span>
              <span class="number dim">{count(n)}</span>
            </li>
          ))}
      </ul>
    </Panel>
  );
}
