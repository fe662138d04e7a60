/** The real clock and chance of the client; tests give it others. The only file that touches these globals. */

export interface ClientSystem {
  /** Milliseconds; only differences mean anything. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** A number in [0, 1). */
  random(): number;
  uuid(): string;
  /** Calls `fn` after `ms`; the result cancels it. */
  after(ms: number, fn: () => void): () => void;
}

export const system: ClientSystem = {
  now: () => performance.now(),
  wall: () => Date.now(),
  random: () => Math.random(),
  uuid: () => crypto.randomUUID(),
  after: (ms, fn) => {
    const handle = setTimeout(fn, ms);
    return () => clearTimeout(handle);
  },
};
