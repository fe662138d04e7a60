/** The real clock and chance of the client; tests give it others. The only file that touches these globals. */

export interface ClientSystem {
  /** Milliseconds; only differences mean anything. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** A number in [0, 1). */
  random(): number;
  /** A text that no other call gives, here or anywhere. */
  uuid(): string;
  /** Calls `fn` after `ms`; the result cancels it. */
  after(ms: number, fn: () => void): () => void;
}

export const system: ClientSystem = {
  now: () => performance.now(),
  wall: () => Date.now(),
  random: () => Math.random(),
  uuid,
  after: (ms, fn) => {
    const handle = setTimeout(fn, ms);
    return () => clearTimeout(handle);
  },
};

/**
 * Keys that share one draw of random bits. A copy of a running process (a snapshot of a machine) repeats up to so many
 * keys: no more than with `randomUUID`, of which Node draws as many ahead.
 */
const drawnCountMax = 128;
let drawn = '';
let drawnCount = drawnCountMax;

/**
 * 122 or more random bits and a count: every set needs a key, and drawing bits for each took a twentieth of its CPU.
 */
function uuid(): string {
  if (drawnCount === drawnCountMax) {
    drawn = randomText();
    drawnCount = 0;
  }
  return `${drawn}.${drawnCount++}`;
}

/** Browsers have `randomUUID` only on pages that came over HTTPS, or from the machine itself. */
function randomText(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
