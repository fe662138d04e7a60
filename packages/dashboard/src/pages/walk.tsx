/** The members in the order in which they would hold a key, and each step of the walk that led there. */
import { type Key, PlacementError, type Step } from '@carillon/placement';
import { find } from '../parts/explorer.ts';
import type { Placed } from '../parts/domains.ts';
import { Wrong } from '../parts/parts.tsx';

const scoreMax = 2 ** 32 - 1;

interface WalkProps {
  readonly members: readonly Placed[];
  readonly keyed: Key;
  readonly replicas: number;
}

export function Walk(props: WalkProps) {
  try {
    const { ranked, steps } = find(props.members, props.keyed, props.replicas);
    if (ranked.length === 0) return <p class="dim">There is no active member to hold it.</p>;
    return (
      <>
        <ol class="ranked">
          {ranked.map(({ name, role }, i) => (
            <li key={name} class={role === '' ? 'spare' : ''}>
              <span class="position">{i + 1}</span>
              <a href={`#/topology/${encodeURIComponent(name)}`}>{name}</a>
              <span class="dim">{role === '' ? 'would stand in' : role}</span>
            </li>
          ))}
        </ol>
        <h3>The walk</h3>
        <div class="steps">
          {steps.map((step) => (
            <StepView key={`${step.level} ${step.path}`} step={step} />
          ))}
        </div>
        <p class="note">
          The lowest score is the primary, then from the highest down. Scores are hashes of key and
          name.
        </p>
      </>
    );
  } catch (error) {
    if (error instanceof PlacementError) return <Wrong says={error.message} />;
    throw error;
  }
}

function StepView({ step }: { readonly step: Step }) {
  return (
    <section class="step">
      <h4>
        {step.level} {step.path === '' ? '' : <span class="dim">in {step.path}</span>}
      </h4>
      <ul class="bars">
        {step.candidates.map(({ id, score, share }) => (
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
    </section>
  );
}
