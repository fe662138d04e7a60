/**
 * The copies of a table that a further zone takes: when its account comes to see the zone, and for all accounts step by
 * step.
 */
import { count, percent } from '../../format.ts';
import { Share } from '../../parts/parts.tsx';
import { type Growth, sampleAccounts, tableKeys } from './question.ts';

interface GrowthProps {
  readonly growth: Growth;
  readonly zones: number;
}

export function GrowthView({ growth, zones }: GrowthProps) {
  const { moved, minimum, evenMinimum, copies, account, accountFrom, rollouts } = growth;
  return (
    <>
      <h3>When zone {zones + 1} comes</h3>
      <p class="verdict">
        <strong>{percent(moved / copies)}</strong> of the copies of this table would move; these
        loads need at least {percent(minimum / copies)}, exact shares{' '}
        {percent(evenMinimum / copies)}. Its account, {account}, sees the zone from a rollout of{' '}
        {percent(accountFrom)} on, or at once if it is created later.
      </p>
      <table class="rollout">
        <thead>
          <tr>
            <th>Rollout</th>
            <th class="number">Accounts</th>
            <th class="number">Moves</th>
            {growth.zones.map((zone) => (
              <th key={zone}>{zone}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rollouts.map(({ rollout, seeing, moved: part, shares }) => (
            <tr key={rollout}>
              <td>{percent(rollout)}</td>
              <td class="number">{count(seeing)}</td>
              <td class="number">{percent(part)}</td>
              {shares.map((share, i) => (
                <td key={growth.zones[i]}>
                  <Share ratio={share} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">
        The first sentence is computed over {count(tableKeys)} keys of this table, the steps over
        the tables of {count(sampleAccounts)} accounts. The pool keeps the width that it was made
        with for {count(zones)} zones, and grows by the new one.
      </p>
    </>
  );
}
