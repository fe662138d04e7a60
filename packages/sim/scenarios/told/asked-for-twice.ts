/**
 * A story for tests: a replica does not answer, so a change takes its time. A client asks for a replace twice, and then
 * for another one, all at the same member.
 */
import { decodeDefinition } from '@carillon/core';
import { Story, timerBody } from '../../src/story.ts';

export interface AskedForTwice {
  /** Of the last replace: when its answer came, to a second, and its status. */
  readonly seconds: number | null;
  readonly status: number | null;
  /** The definition that the member had at that moment, and a while later. */
  readonly had: readonly string[];
}

/** `afterMs`: between the first two replaces and the last one. */
export async function askedForTwice(afterMs: number): Promise<AskedForTwice> {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { id } = await story.set({ seconds: 300, opaque: 'first' }, 'm1');
  story.part('m0', 'm1');
  await story.pass(20);
  const opaque = (): string => {
    const body = story.record(id, 'm1')?.body;
    return body === undefined ? '' : decodeDefinition(body).opaque;
  };
  const replace = (to: string, answered: (status: number | null) => void): void => {
    const content = timerBody({ seconds: 300, opaque: to });
    const asked = { method: 'PUT', path: `/timers/${id}`, content, via: 'm1' };
    story.send(asked, (response) => answered(response?.status ?? null));
  };
  replace('former', () => undefined);
  replace('former', () => undefined);
  await story.pass(afterMs / 1000);
  const sentSeconds = story.seconds;
  const had: string[] = [];
  let seconds: number | null = null;
  let status: number | null = null;
  replace('new', (its) => {
    status = its;
    seconds = Math.round(story.seconds - sentSeconds);
    had.push(opaque());
  });
  await story.pass(30);
  had.push(opaque());
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return { seconds, status, had };
}
