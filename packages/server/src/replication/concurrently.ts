/**
 * Many pieces of work, so many at a time: the next begins when one is done. For a batch, whose last timers would
 * otherwise wait for the first ones within their own time limits.
 */

/**
 * `begin` is called for 0 … count − 1 and calls `done` once, at once or later; `finished` is called after the last one.
 */
export function concurrently(
  { count, countMax }: { readonly count: number; readonly countMax: number },
  begin: (i: number, done: () => void) => void,
  finished: () => void,
): void {
  let next = 0;
  let open = 0;
  let running = false;
  const run = (): void => {
    // An item that is done at once calls `done` from inside this loop: the loop goes on, without recursion.
    if (running) return;
    running = true;
    while (open < countMax && next < count) {
      open++;
      begin(next++, done);
    }
    running = false;
    if (next === count && open === 0) finished();
  };
  const done = (): void => {
    open--;
    run();
  };
  run();
}
