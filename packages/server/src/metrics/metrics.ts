/**
 * Every number a member tells about itself, by name. Parts of the member add to the fields here; levels that
 * live elsewhere (how many timers are pending) are read through a function registered once with `read`.
 * No ids, URLs or member addresses as labels: the number of series does not grow with use.
 */
import { LagProbe } from './lag-probe.ts';
import {
  Counter,
  Family,
  Gauge,
  Histogram,
  HistogramFamily,
  type Metric,
  type MetricReading,
  ReadFamily,
  Registry,
  Tally,
} from './prometheus.ts';
import type { PeerRefusalReason } from '../network/refusals.ts';

export type TimerCount = 'pending' | 'retrying' | 'dead' | 'tombstone';

/**
 * Lateness and the event loop live around a millisecond. A backup pops 2 s after the due time: 2.1 and 2.5 s tell such
 * a normal fail-over from a slow one.
 */
const latenessBucketsMs = [
  0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1_000, 2_000, 2_100,
  2_500, 4_000, 10_000, 60_000, 600_000,
];

export class Metrics {
  private readonly registry = new Registry();

  constructor(build: { version: string; runtime: string }) {
    this.buildInfo.with(build).set(1);
  }

  /** Everything as Prometheus text. */
  render(): string {
    return this.registry.render();
  }

  /** The same numbers, for an export. */
  readings(): readonly MetricReading[] {
    return this.registry.readings();
  }

  // The member.

  private readonly buildInfo = this.add(
    new Family('gauge', {
      name: 'carillon_build_info',
      help: 'The release that runs here; always 1.',
      labels: ['version', 'runtime'],
    }),
  );
  readonly eventLoopLag = this.histogram(
    'carillon_event_loop_lag_seconds',
    'How much later than asked a probe of the event loop ran.',
    latenessBucketsMs,
  );
  readonly lag = new LagProbe(this.eventLoopLag);
  readonly residentBytes = this.gauge('process_resident_memory_bytes', 'Resident memory.');
  readonly heapBytes = this.gauge('carillon_heap_used_bytes', 'JavaScript heap in use.');
  readonly cpuSeconds = this.counter('process_cpu_seconds_total', 'User and system CPU time.');

  // Timers.

  readonly timers = this.add(
    new ReadFamily<TimerCount>({
      name: 'carillon_timers',
      help: 'Records held by this member, by state.',
      label: 'state',
    }),
  );
  readonly primaries = this.gauge(
    'carillon_primary_timers',
    'Timers of which this member is the primary, or the first replica that answers: summed over the members, each timer counts once.',
  );
  readonly primaryLetters = this.gauge(
    'carillon_primary_dead_letters',
    'Dead letters of which this member is the primary, or the first replica that answers: summed over the members, each counts once.',
  );
  readonly unready = this.gauge(
    'carillon_unready',
    '1 while the member takes no requests: it starts, hands its timers on, stops, or its disk is full; 0 otherwise.',
  );
  readonly overdue = this.gauge(
    'carillon_timers_overdue',
    'Timers whose due time has passed and whose callback has not begun.',
  );
  /** repeated: the idempotency key had been seen before. */
  readonly sets = this.results(
    'carillon_sets_total',
    'Sets and replaces coordinated here, by outcome.',
    ['created', 'replaced', 'repeated', 'refused'],
  );
  readonly cancels = this.results(
    'carillon_cancels_total',
    'Cancels coordinated here, by outcome.',
    ['confirmed', 'refused'],
  );

  // Pops and callbacks.

  /**
   * delivered: 2xx. retried: failed, will be tried again. dead: given up. merged: a missed pop folded into the
   * next. skipped_duplicate: another replica had done it. superseded: replaced or cancelled meanwhile.
   */
  readonly pops = this.results('carillon_pops_total', 'Pops handled here, by outcome.', [
    'delivered',
    'retried',
    'dead',
    'merged',
    'skipped_duplicate',
    'superseded',
  ]);
  readonly popLateness = this.histogram(
    'carillon_pop_lateness_seconds',
    'Time from due to the start of the first callback attempt, of pops that did not wait for their receiver and got an answer.',
    latenessBucketsMs,
  );
  readonly receiverLateness = this.histogram(
    'carillon_pop_receiver_lateness_seconds',
    'Time from due to the start of the first callback attempt, of pops that waited for their receiver (left alone after failures, or at its limit of callbacks in flight) or got no answer from it.',
    latenessBucketsMs,
  );
  readonly callbackDuration = this.histogram(
    'carillon_callback_duration_seconds',
    'Time of one callback attempt, from its start to its answer or failure.',
  );
  readonly callbackAnswers = this.results(
    'carillon_callback_answers_total',
    'Callback attempts by class of answer, or the reason why none came.',
    ['2xx', '3xx', '4xx', '5xx', 'refused', 'timeout', 'unresolvable', 'forbidden', 'cut', 'tls'],
  );
  readonly callbacksInFlight = this.gauge('carillon_callbacks_in_flight', 'Callbacks under way.');
  readonly callbacksQueued = this.gauge(
    'carillon_callbacks_queued',
    'Callbacks that wait for a place.',
  );
  readonly letterBoxesFull = this.gauge(
    'carillon_letter_boxes_full',
    'Namespaces with as many dead letters at this member as they may have: their failing pops stay due.',
  );
  /** given_up: its receiver never took it. */
  readonly events = this.results('carillon_events_total', 'Events raised here, by outcome.', [
    'stored',
    'refused',
    'given_up',
  ]);
  readonly lettersDropped = this.counter(
    'carillon_dead_letters_dropped_total',
    'Dead letters dropped here because their namespace keeps them for a time, or so many, only.',
  );
  readonly breakersOpen = this.gauge(
    'carillon_callback_breakers_open',
    'Destinations left alone for a while because they keep failing.',
  );

  // Journal.

  readonly journalSync = this.histogram(
    'carillon_journal_sync_seconds',
    'Time of one sync of the journal to disk.',
  );
  readonly journalBytes = this.gauge(
    'carillon_journal_bytes',
    'Bytes of journal on disk that no snapshot has made unnecessary yet.',
  );
  readonly historyBytes = this.gauge(
    'carillon_history_bytes',
    'Bytes of the history of attempts and changes.',
  );
  readonly historyOmitted = this.counter(
    'carillon_history_omitted_total',
    'Entries left out of the history, because the disk was full, failed or was too slow.',
  );
  readonly journalRecords = this.counter('carillon_journal_records_total', 'Records journaled.');
  readonly snapshots = this.counter('carillon_snapshots_total', 'Snapshots finished.');
  readonly scrubbedBytes = this.counter(
    'carillon_scrubbed_bytes_total',
    'Bytes of journal and snapshots read again in search of damage.',
  );
  readonly damage = this.counter(
    'carillon_disk_damage_total',
    'Damaged stretches and missing files found in journal and snapshots.',
  );
  readonly lostEntries = this.gauge(
    'carillon_journal_lost_entries',
    'Entries of the journal lost to damage that was found since the start, at least.',
  );
  readonly lostTimers = this.gauge(
    'carillon_lost_timers',
    'Timers without another copy lost to damage that was found at the start, at most.',
  );
  readonly mending = this.gauge(
    'carillon_disk_mending',
    '1 while lost records are being fetched or damaged files replaced, 0 otherwise.',
  );

  // HTTP.

  readonly httpRequests = this.add(
    new Family('counter', {
      name: 'carillon_http_requests_total',
      help: 'HTTP requests answered, by route and status.',
      labels: ['route', 'status'],
    }),
  );
  readonly httpDuration = this.add(
    new HistogramFamily({
      name: 'carillon_http_request_duration_seconds',
      help: 'Time from the complete request to its answer, by route.',
      label: 'route',
    }),
  );
  readonly httpInFlight = this.gauge(
    'carillon_http_requests_in_flight',
    'Requests being worked on.',
  );
  readonly httpConnections = this.gauge('carillon_http_connections', 'Open client connections.');
  readonly httpRefused = this.results(
    'carillon_http_refused_total',
    'Requests and connections turned away before they reached a route, by reason.',
    [
      'connections',
      'in_flight',
      'unread',
      'too_large',
      'too_slow',
      'malformed',
      'not_allowed',
      'stopping',
    ],
  );

  // Other members.

  readonly copies = this.results(
    'carillon_copies_total',
    'Records offered to replicas, by their answer.',
    ['stored', 'kept', 'refused', 'unanswered'],
  );
  readonly claims = this.results(
    'carillon_claims_total',
    'Claims asked of other replicas, by their answer.',
    ['granted', 'ahead', 'claimed', 'unknown', 'unanswered'],
  );
  readonly peerCalls = this.results(
    'carillon_peer_calls_total',
    'Frames sent to other members, by whether an answer came.',
    ['answered', 'unanswered'],
  );
  readonly peersRefused = this.add(
    new ReadFamily<PeerRefusalReason>({
      name: 'carillon_peers_refused_total',
      help: 'Connections from or to other members that were refused, by reason: a wrong secret, certificate, name or number key, no common protocol, altered or malformed frames, too slow, or too many that are not authenticated yet.',
      label: 'result',
      type: 'counter',
    }),
  );
  readonly viewMembers = this.gauge('carillon_view_members', 'Members in the present view.');
  readonly resynced = this.results(
    'carillon_resync_records_total',
    'Records walked by resyncs: still right, pushed to new replicas, or handed off and dropped.',
    ['unchanged', 'pushed', 'dropped'],
  );
  readonly repaired = this.results(
    'carillon_repair_records_total',
    'Records exchanged by repair.',
    ['sent', 'received'],
  );
  readonly unconfirmedRecords = this.gauge(
    'carillon_unconfirmed_records',
    'Records that peers have not confirmed yet.',
  );
  readonly underReplicated = this.gauge(
    'carillon_under_replicated_timers',
    'Timers, ended ones among them, that are not known to be with all members that should hold them.',
  );

  // Telemetry.

  readonly spans = this.results(
    'carillon_spans_total',
    'Spans by their end: exported to the collector, failed to be, or dropped for want of room. Zero without telemetry.endpoint.',
    ['exported', 'failed', 'dropped'],
  );

  private add<M extends Metric>(metric: M): M {
    return this.registry.add(metric);
  }

  private counter(name: string, help: string): Counter {
    return this.add(new Counter(name, help));
  }

  private gauge(name: string, help: string): Gauge {
    return this.add(new Gauge(name, help));
  }

  private histogram(name: string, help: string, boundsMs?: readonly number[]): Histogram {
    return this.add(new Histogram({ name, help, ...(boundsMs && { boundsMs }) }));
  }

  private results<V extends string>(name: string, help: string, values: readonly V[]): Tally<V> {
    return this.add(new Tally({ name, help, label: 'result', values }));
  }
}
