/** Works on items as they come, several at a time. */

/** Rejects with the first failure, after which no further item is begun. */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = each(items);
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (failed) return;
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function* each<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T, void, undefined> {
  yield* items;
}
