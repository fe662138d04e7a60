/** A row in its pool: its places, the steps that lead there, and the slots of the pool with the row's replicas. */
import type { MachineShape, RowAnswer } from './question.ts';
import { StepView } from './step.tsx';

interface AnswerProps {
  readonly answer: RowAnswer;
}

export function Places({ answer: { places, levels } }: AnswerProps) {
  return (
    <table class="places">
      <thead>
        <tr>
          <th>Role</th>
          {levels.map((level) => (
            <th key={level}>{level}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {places.map(({ path, at }, i) => (
          <tr key={path}>
            <td>{roleOf(i)}</td>
            {levels.map((level) => (
              <td key={level}>{at[level]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Candidates of a round that are shown: the best ones. */
const shownMax = 4;

export function Steps({ answer: { steps } }: AnswerProps) {
  return (
    <details class="lookup">
      <summary>
        Found in {steps.length} steps: a step is one round of ranking, or one hash for a stripe
      </summary>
      <div class="steps">
        {steps.map((step, i) => (
          <StepView
            key={`${step.path} ${step.level}`}
            step={step}
            title={`${i + 1}. `}
            shownMax={shownMax}
          />
        ))}
      </div>
    </details>
  );
}

export function Slots({ answer: { zones, slotCount, table, places } }: AnswerProps) {
  return (
    <>
      <h3>
        The pool of {table}: {slotCount} slots, {places.length} of them hold this row
      </h3>
      <div class="pool">
        {zones.map(({ zone, machines }) => (
          <section key={zone} class="pool-zone">
            <h4>{zone}</h4>
            <ul class="machines">
              {machines.map((one) => (
                <Machine key={one.machine} one={one} />
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  );
}

function Machine({ one: { machine, slots } }: { readonly one: MachineShape }) {
  return (
    <li>
      <span class="dim">{machine}</span>
      {slots.map(({ disk, role }) => (
        <span key={disk} class={role === null ? 'slot' : 'slot held'}>
          {disk}
          {role === null ? '' : <span class="role"> {role + 1}</span>}
        </span>
      ))}
    </li>
  );
}

function roleOf(position: number): string {
  return position === 0 ? 'primary' : `backup ${position}`;
}
