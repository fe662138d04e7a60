/**
 * Between two events of a simulated world every chain of promises that can settle must have settled, as it would
 * between two turns of a real event loop. A real turn costs microseconds; Node's own way of emptying the queue costs a
 * tenth of that, and the world runs synchronously.
 */

const drain = (process as unknown as Record<'_tickCallback', () => void>)['_tickCallback'];

/** Lets all settled promises run. Works only outside of a promise's turn: see `inOwnTurn`. */
export function drainPromises(): void {
  drain();
}

/** Runs `fn` in a turn of its own, where `drainPromises` works. */
export function inOwnTurn<T>(fn: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        assertDrains();
        resolve(fn());
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Whether this runtime empties its queue when asked: everything else here rests on it. */
function assertDrains(): void {
  let depth = 0;
  const descend = async (left: number): Promise<void> => {
    if (left > 0) await descend(left - 1);
    depth++;
  };
  void descend(5);
  drainPromises();
  if (depth !== 6) throw new Error('This runtime cannot settle promises between two events.');
}
