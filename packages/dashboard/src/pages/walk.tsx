/** The members in the order in which they would hold a key, and each step of the walk that led there. */
import { type Key, PlacementError } from '@carillon/placement';
import { find } from '../parts/cluster/explorer.ts';
import type { Placed } from '../parts/cluster/domains.ts';
import { Wrong } from '../parts/parts.tsx';
import { StepView } from './tables/step.tsx';

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
