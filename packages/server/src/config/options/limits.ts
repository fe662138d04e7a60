/** Limits of requests, timers, memory and queues. */
import { bytes, ms, optional, whole } from './kinds.ts';
import { second, hour, day, KiB, MiB, option } from './option.ts';

export const limits = {
  bodyBytesMax: option(
    256 * KiB,
    bytes(1 * KiB, 64 * MiB),
    'Largest request body outside batches; beyond it 413. Higher: one client can hold more memory.',
  ),
  batchBodyBytesMax: option(
    8 * MiB,
    bytes(1 * KiB, 256 * MiB),
    'Largest batch body; beyond it 413. Higher: parsing one batch holds up pops longer (about 10 ms a MiB).',
  ),
  batchItemCountMax: option(
    10_000,
    whole(1, 1_000_000),
    'Timers in one batch; beyond it 413. Higher: one batch holds up pops longer.',
  ),
  jsonDepthMax: option(
    32,
    whole(4, 1_000),
    'Nesting of a JSON body; beyond it 400. The API itself needs 4.',
  ),
  uriBytesMax: option(
    2 * KiB,
    bytes(16, 64 * KiB),
    'Longest callback URI; beyond it 400. Counts in memory for every pending timer.',
  ),
  opaqueBytesMax: option(
    64 * KiB,
    bytes(0, 16 * MiB),
    'Longest opaque text in UTF-8; beyond it 400. Counts in memory for every pending timer.',
  ),
  callbackHeaderCountMax: option(
    32,
    whole(0, 1_000),
    'Callback headers a timer may carry; beyond it 400.',
  ),
  callbackHeaderBytesMax: option(
    4 * KiB,
    bytes(0, 64 * KiB),
    'Names and values of the callback headers of one timer together; beyond it 400. Many receivers refuse more than 8 KiB.',
  ),
  tagCountMax: option(16, whole(0, 1_000), 'Tags of one timer; beyond it 400.'),
  tagBytesMax: option(128, bytes(1, 4 * KiB), 'Longest tag in UTF-8; beyond it 400.'),
  pageItemCountMax: option(
    1_000,
    whole(1, 100_000),
    'Items a client may ask for in one page. Higher: one page holds up pops longer.',
  ),
  pendingTimerCountMax: option(
    10_000_000,
    whole(1, 1_000_000_000),
    'Records held by this member, ended timers that are still remembered included; beyond it namespaces with more than their equal part get 429 for sets, and for cancels of timers that are not known. Plan about 220 bytes for each, with 64 bytes of opaque.',
  ),
  deadLetterCountMax: option(
    100_000,
    whole(1, 100_000_000),
    'Dead letters held by this member; beyond it namespaces with more than their equal part make no more (their failing pops stay due), and their sets of recurring timers get 429 until some are read and removed. No pop is dropped for it.',
  ),
  connectionCountMax: option(
    10_000,
    whole(1, 1_000_000),
    'Open client connections; more are closed at once. Lower: clients are turned away. Higher: sockets and memory (the limit of open files must allow it).',
  ),
  requestsInFlightMax: option(
    4_096,
    whole(1, 1_000_000),
    'Requests being worked on; beyond it 503 with Retry-After. One namespace, or a token for all of them, gets three quarters of it. Higher: longer waits before clients learn that the member is busy.',
  ),
  bufferedBytesMax: option(
    256 * MiB,
    bytes(1 * MiB, 64 * 1024 * MiB),
    'Bytes of request bodies being read, over all connections; beyond it 503 with Retry-After. One address gets three quarters of it, requests that have not shown a token half. Lower: many large batches at once are turned away. Higher: memory.',
  ),
  answerBytesMax: option(
    128 * MiB,
    bytes(4 * MiB, 64 * 1024 * MiB),
    'Bytes of answers that clients have not read yet, over all connections. Beyond it clients that do not read are cut, and more lists are 503 with Retry-After. Lower: fewer lists at once (2 MiB each). Higher: memory.',
  ),
  requestHeaderBytesMax: option(
    16 * KiB,
    bytes(1 * KiB, 1 * MiB),
    'Request line and headers; beyond it 431.',
  ),
  requestHeaderCountMax: option(100, whole(10, 2_000), 'Headers of a request; beyond it 431.'),
  headersTimeoutMs: option(
    10 * second,
    ms(50, hour),
    'Time for a client to send its headers before it is cut. Lower: slow networks suffer. Higher: slow attackers hold sockets longer.',
  ),
  requestTimeoutMs: option(
    30 * second,
    ms(50, hour),
    'Time for a client to send a whole request before it is cut. Must not be below headersTimeoutMs.',
  ),
  idleTimeoutMs: option(
    75 * second,
    ms(50, day),
    'How long an idle connection is kept open. Should exceed the idle time of a load balancer in front, else it meets closed connections.',
  ),
  ratePerSecond: option<number | null>(
    null,
    optional(whole(1, 10_000_000)),
    'Requests a second of one token, each timer of a batch counted as one; beyond it 429 with Retry-After. Without authentication: of one address (IPv6: of one /64 network). Each member counts for itself. Lower: busy clients are slowed down. Not set: no limit for a single client.',
  ),
  rateBurst: option<number | null>(
    null,
    optional(whole(1, 100_000_000)),
    'Requests that may come at once after a quiet time, with limits.ratePerSecond. A batch may be larger; further requests are then refused until the rate has made up for it. Not set: as many as in one second.',
  ),
  popQueueLengthMax: option(
    50_000,
    whole(1, 10_000_000),
    'Due pops that wait in memory for a callback slot; the rest wait in the wheel. Lower: bursts drain less smoothly. Higher: memory.',
  ),
  peerQueueLengthMax: option(
    100_000,
    whole(1, 10_000_000),
    'Messages that wait for one peer; beyond it they are left to repair. Lower: more repair after a short outage. Higher: memory.',
  ),
} as const;
