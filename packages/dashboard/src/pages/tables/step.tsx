/** One step of a lookup: its candidates with their scores, the ones that hold replicas first. */
import type { Step } from '@carillon/placement';

const scoreMax = 2 ** 32 - 1;

interface StepProps {
  readonly step: Step;
  /** Before the level. */
  readonly title?: string;
  /** Candidates that are shown, the best ones; default: all. */
  readonly shownMax?: number;
}

export function StepView({ step, title = '', shownMax = step.candidates.length }: StepProps) {
  const used = step.candidates.filter(({ share }) => share > 0).length;
  const shown = step.candidates.slice(0, Math.max(used, shownMax));
  const left = step.candidates.length - shown.length;
  return (
    <section class="step">
      <h4>
        {title}
        {step.level} {step.path === '' ? '' : <span class="dim">in {step.path}</span>}
      </h4>
      <ul class="bars">
        {shown.map(({ id, score, share }) => (
          <li key={id} class={share > 0 ? '' : 'spare'}>
            <span>{id}</span>
            <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect class="track" width="100" height="8" />
              <rect
                class={share > 0 ? 'fill' : 'fill quiet'}
                width={((score ?? 0) / scoreMax) * 100}
                height="8"
              />
            </svg>
            <span class="number dim">{score === null ? 'not ranked' : score}</span>
            <span class="number">{share > 0 ? `${share}×` : ''}</span>
          </li>
        ))}
      </ul>
      {left === 0 ? null : <p class="note">and {left} more</p>}
    </section>
  );
}
