/**
 * The remembered attempts of one timer, gathered from all members: the member that popped it knows, and it may be any
 * of them.
 */
import type { AttemptsView } from './service.ts';
import type { History } from '../pop/outcome/history.ts';
import { type Attempt, failureOf, outcomeWord } from '../timer/attempt.ts';
import type { Peers } from '../replication/peers.ts';
import type { Numbered } from '../replication/wire/parts.ts';

export interface AttemptsViewParts {
  readonly self: string;
  readonly peers: Peers | null;
  readonly history: History;
}

/** Oldest first. */
export async function gatherAttempts(
  parts: AttemptsViewParts,
  namespace: string,
  number: Numbered,
  names: readonly string[],
): Promise<AttemptsView> {
  const asked = await Promise.all(
    names.map(async (name) => ({ name, found: await attemptsAt(parts, namespace, number, name) })),
  );
  const attempts = asked.flatMap(({ name, found }) =>
    (found ?? []).map(({ outcome, ...attempt }) => ({
      ...attempt,
      status: outcomeWord(outcome) ?? 'unknown',
      failure: failureOf(outcome),
      member: name,
    })),
  );
  return {
    attempts: attempts.toSorted((a, b) => a.atMs - b.atMs),
    missing: asked.filter(({ found }) => found === null).map(({ name }) => name),
  };
}

/** null: the member does not answer, or is of a release that remembers none. */
function attemptsAt(
  { self, peers, history }: AttemptsViewParts,
  namespace: string,
  { hi, lo }: Numbered,
  name: string,
): Promise<readonly Attempt[] | null> {
  if (name === self) return Promise.resolve(history.of(namespace, hi, lo));
  if (peers === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    peers.send(name, { type: 'attempts', namespace, hi, lo }, (answer) =>
      resolve(answer?.type === 'attempts' ? answer.attempts : null),
    );
  });
}
