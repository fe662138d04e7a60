/** Options of callbacks, their retries and the memory of attempts. */
import { parseAllow } from '../../callback/guard/guard.ts';
import { bytes, type Kind, list, ms, optional, text, whole, Wrong } from './kinds.ts';
import { second, minute, hour, day, MiB, option } from './option.ts';

/** Checks the form of a rule and keeps its text; the guard of callbacks parses the list again. */
const allowRule: Kind<string> = (raw) => {
  try {
    parseAllow(String(raw));
    return String(raw);
  } catch {
    return new Wrong(
      'loopback, private, link-local, or an address range such as 10.0.0.0/8, 10.1.2.3:8080 or [fd00::/8]:8080',
    );
  }
};

export const history = {
  attemptCountMax: option(
    16,
    whole(0, 1_000),
    'Newest callback attempts this member remembers of one timer, for GET /timers/ID/attempts and the dashboard; in memory, gone with a restart. 0: none. Higher: memory.',
  ),
  timerCountMax: option(
    10_000,
    whole(1, 10_000_000),
    'Timers whose attempts this member remembers: the most recently tried ones. Higher: memory, about 100 bytes an attempt.',
  ),
  keepMs: option(
    7 * day,
    ms(hour, 365 * day),
    'How long attempts and changes are kept in the history on disk, for GET /timers/ID/history and GET /audit. Higher: older entries can be read, as far as bytesMax allows.',
  ),
  bytesMax: option(
    1024 * MiB,
    bytes(0, 1024 * 1024 * MiB),
    'Bytes of the history in the folder of this member; beyond it the oldest entries go. About 30 bytes an attempt or change, and 8 more for the index. 0: no history is kept. With durability memory at most 16 MiB, in memory.',
  ),
} as const;

export const callbacks = {
  timeoutMs: option(
    10 * second,
    ms(10, hour),
    'Time limit of a callback attempt unless the timer says otherwise. Lower: slow receivers get retries. Higher: dead receivers hold slots longer.',
  ),
  timeoutMsMax: option(
    2 * minute,
    ms(10, hour),
    'The longest time limit a timer may ask for; beyond it 400.',
  ),
  inFlightMax: option(
    512,
    whole(1, 100_000),
    'Callbacks under way at once. Lower: bursts pop later. Higher: sockets and memory.',
  ),
  inFlightPerDestinationMax: option(
    128,
    whole(1, 100_000),
    'Callbacks under way to one origin. Lower: bursts to one receiver pop later. Higher: one slow receiver can take most slots.',
  ),
  batchCountMax: option(
    500,
    whole(1, 10_000),
    'Pops in one request, of timers that ask for it (callback.http.batch) and for receivers that do (X-Timer-Batch). Lower: more requests. Higher: more pops come again when the receiver fails once.',
  ),
  allow: option<readonly string[]>(
    [],
    list(allowRule),
    'Address ranges that callbacks may reach although they are not public; with a port, that port only. Loopback is allowed by itself while the member listens on loopback. Wider: clients can make the member call into your network.',
  ),
  signingSecrets: {
    ...option<readonly string[]>(
      [],
      list(
        text(
          /^(?:[a-z0-9][a-z0-9._-]{0,63}=)?whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
          'whsec_ and 24 to 64 bytes in base64, or NAMESPACE= and that',
        ),
      ),
      'Secrets that sign callbacks (Standard Webhooks); with two, both sign, so that receivers can change over. NAMESPACE=SECRET is for the callbacks of that namespace alone, which the other secrets then do not sign. Not set: unsigned.',
    ),
    secret: true,
  },
} as const;

export const retry = {
  limitMs: option(
    day,
    ms(0, 30 * day),
    'How long after its first attempt a failed pop is retried before it becomes a dead letter. Lower: outages of receivers leave more dead letters. Higher: receivers get older pops.',
  ),
  baseMs: option(
    second,
    ms(1, day),
    'Longest wait before the first retry; doubles with each. Lower: failing receivers are called more often.',
  ),
  waitMsMax: option(
    5 * minute,
    ms(1, day),
    'Longest wait between two attempts. Lower: more calls to dead receivers. Higher: later delivery once they are back.',
  ),
  attemptCountMax: option<number | null>(
    null,
    optional(whole(1, 1_000_000)),
    'Attempts in all. Not set: as many as fit the limit.',
  ),
} as const;
