/** Does one thing to many items, several at a time, and counts. A failure of one does not stop the others. */
import { sentenceOf } from '@carillon/core';

export interface Progress {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Why the first of them failed; null: none did. */
  readonly why: string | null;
}

const width = 8;

/** `told` is called after each item. Resolves when all were tried, or soon after `stopped` says so. */
export async function actOnMany(
  ids: readonly string[],
  act: (id: string) => Promise<void>,
  told: (progress: Progress) => void,
  stopped: () => boolean,
): Promise<Progress> {
  let progress: Progress = { total: ids.length, done: 0, failed: 0, why: null };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let id = ids[next++]; id !== undefined && !stopped(); id = ids[next++]) {
      const why = await failureOf(act, id);
      const { total, done, failed } = progress;
      progress =
        why === null
          ? { ...progress, done: done + 1 }
          : { total, done, failed: failed + 1, why: progress.why ?? why };
      told(progress);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return progress;
}

async function failureOf(act: (id: string) => Promise<void>, id: string): Promise<string | null> {
  try {
    await act(id);
    return null;
  } catch (cause) {
    return sentenceOf(cause);
  }
}
