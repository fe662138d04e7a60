/**
 * A client's request: when to call back, which receiver, and how. Fixed for the life of a version; records carry it
 * as bytes (`encodeDefinition`) and only pops and reads look inside.
 */
import { ByteReader, ByteWriter, MalformedError } from './bytes.ts';
import { decodeTrace, encodeTrace, traceBytes } from './traceparent.ts';

/** How a recurring timer ends. All null and not forever: one pop. */
export interface Ending {
  readonly repeatForMs: number | null;
  /** Wall-clock instant after which nothing pops any more. */
  readonly untilMs: number | null;
  readonly count: number | null;
  readonly forever: boolean;
}

export type Timing =
  | { readonly kind: 'interval'; readonly intervalMs: number; readonly ending: Ending }
  /** One pop at a wall-clock instant. */
  | { readonly kind: 'at'; readonly atMs: number }
  | {
      readonly kind: 'cron';
      readonly cron: string;
      /** IANA name; null: UTC. */
      readonly timezone: string | null;
      readonly ending: Ending;
    };

export interface RetryPolicy {
  /** How long after the first attempt others may follow. */
  readonly limitMs: number;
  /** The longest wait before the first retry; doubles with each attempt. */
  readonly baseMs: number;
  /** The longest wait between two attempts. */
  readonly waitMsMax: number;
  /** Attempts in all; null: as many as fit the limit. */
  readonly attemptCountMax: number | null;
}

/** The pop that a dead letter stands for. */
export interface Origin {
  /** The timer's id as the client knows it. */
  readonly id: string;
  readonly versionMs: number;
  readonly versionTie: number;
  readonly sequence: number;
  /** Wall clock. */
  readonly dueMs: number;
  readonly missed: number;
  readonly attempts: number;
  /** Why the last attempt failed, in words. */
  readonly reason: string;
  /** Wall clock: when the timer was given up. */
  readonly gaveUpMs: number;
}

export interface Definition {
  readonly timing: Timing;
  readonly uri: string;
  /** Returned to the receiver byte for byte. */
  readonly opaque: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: the member's default. */
  readonly timeoutMs: number | null;
  readonly retry: RetryPolicy | null;
  readonly tags: readonly string[];
  /** `statistics.tag-info`, kept as it came. */
  readonly tagInfo: readonly { readonly type: string; readonly count: number }[];
  /** Callbacks of this timer may share a request with others to the same uri. */
  readonly batch: boolean;
  /** Set under an idempotency key: its end is remembered for a day. */
  readonly idempotent: boolean;
  readonly origin: Origin | null;
  /** Uri that is told of each pop of this timer that was given up; null: none is. */
  readonly onFailure: string | null;
  /**
   * Kind of the event that this timer tells of; null: a client set it. An event that is given up leaves no dead letter.
   */
  readonly event: string | null;
  readonly form: CallbackForm;
  /** The trace that the set belongs to, as `traceparent`; null: none. Two sets that differ in it alone are the same. */
  readonly trace: string | null;
}

/** The parts of a definition that a timer may go without, for one that has none of them. */
export const bareDefinition = {
  method: 'POST',
  headers: {},
  timeoutMs: null,
  retry: null,
  tags: [],
  tagInfo: [],
  batch: false,
  idempotent: false,
  origin: null,
  onFailure: null,
  event: null,
  form: 'plain',
  trace: null,
} as const satisfies Omit<Definition, 'timing' | 'uri' | 'opaque'>;

/** How a callback is written. cloudevents: with the headers of a CloudEvent in binary mode, beside the usual ones. */
export type CallbackForm = 'plain' | 'cloudevents';

/** Field tags. Numbers are part of the stored form: never reuse one. */
export const tag = {
  end: 0,
  interval: 1,
  at: 2,
  cron: 3,
  timezone: 4,
  repeatFor: 5,
  until: 6,
  count: 7,
  forever: 8,
  uri: 9,
  opaque: 10,
  method: 11,
  header: 12,
  timeout: 13,
  retry: 14,
  tag: 15,
  tagInfo: 16,
  idempotent: 17,
  origin: 18,
  batch: 19,
  trace: 20,
  onFailure: 21,
  event: 22,
  cloudEvents: 23,
} as const;

const writer = new ByteWriter(4096);

export function encodeDefinition(definition: Definition): Uint8Array {
  writer.reset();
  // First, so that it can be taken off without a look at the rest.
  if (definition.trace !== null) {
    writer.u8(tag.trace);
    encodeTrace(writer, definition.trace);
  }
  encodeTiming(writer, definition.timing);
  writer.u8(tag.uri);
  writer.text(definition.uri);
  if (definition.opaque !== '') {
    writer.u8(tag.opaque);
    writer.text(definition.opaque);
  }
  if (definition.method !== 'POST') {
    writer.u8(tag.method);
    writer.text(definition.method);
  }
  for (const [name, value] of Object.entries(definition.headers)) {
    writer.u8(tag.header);
    writer.text(name);
    writer.text(value);
  }
  if (definition.timeoutMs !== null) {
    writer.u8(tag.timeout);
    writer.f64(definition.timeoutMs);
  }
  if (definition.retry !== null) encodeRetry(writer, definition.retry);
  for (const name of definition.tags) {
    writer.u8(tag.tag);
    writer.text(name);
  }
  for (const { type, count } of definition.tagInfo) {
    writer.u8(tag.tagInfo);
    writer.text(type);
    writer.f64(count);
  }
  if (definition.batch) writer.u8(tag.batch);
  if (definition.idempotent) writer.u8(tag.idempotent);
  if (definition.origin !== null) encodeOrigin(writer, definition.origin);
  encodeTelling(writer, definition);
  writer.u8(tag.end);
  return writer.copy();
}

function encodeTiming(out: ByteWriter, timing: Timing): void {
  if (timing.kind === 'at') {
    out.u8(tag.at);
    out.f64(timing.atMs);
    return;
  }
  if (timing.kind === 'interval') {
    out.u8(tag.interval);
    out.f64(timing.intervalMs);
  } else {
    out.u8(tag.cron);
    out.text(timing.cron);
    if (timing.timezone !== null) {
      out.u8(tag.timezone);
      out.text(timing.timezone);
    }
  }
  const { repeatForMs, untilMs, count, forever } = timing.ending;
  encodeNumber(out, tag.repeatFor, repeatForMs);
  encodeNumber(out, tag.until, untilMs);
  encodeNumber(out, tag.count, count);
  if (forever) out.u8(tag.forever);
}

function encodeNumber(out: ByteWriter, name: number, value: number | null): void {
  if (value === null) return;
  out.u8(name);
  out.f64(value);
}

function encodeTelling(out: ByteWriter, { onFailure, event, form }: Definition): void {
  if (onFailure !== null) {
    out.u8(tag.onFailure);
    out.text(onFailure);
  }
  if (event !== null) {
    out.u8(tag.event);
    out.text(event);
  }
  if (form === 'cloudevents') out.u8(tag.cloudEvents);
}

function encodeRetry(out: ByteWriter, retry: RetryPolicy): void {
  out.u8(tag.retry);
  out.f64(retry.limitMs);
  out.f64(retry.baseMs);
  out.f64(retry.waitMsMax);
  out.f64(retry.attemptCountMax ?? 0);
}

function encodeOrigin(out: ByteWriter, origin: Origin): void {
  out.u8(tag.origin);
  out.text(origin.id);
  out.f64(origin.versionMs);
  out.u32(origin.versionTie);
  out.u32(origin.sequence);
  out.f64(origin.dueMs);
  out.u32(origin.missed);
  out.u32(origin.attempts);
  out.text(origin.reason);
  out.f64(origin.gaveUpMs);
}

/** Whether the timer of this definition pops at an interval from its start. Cheap: the timing comes early. */
export function isInterval(bytes: Uint8Array): boolean {
  return bytes[hasTrace(bytes) ? 1 + traceBytes : 0] === tag.interval;
}

function hasTrace(bytes: Uint8Array): boolean {
  return bytes[0] === tag.trace;
}

/** The trace of a definition in bytes, without decoding the rest; null: none. */
export function traceOf(bytes: Uint8Array): string | null {
  return hasTrace(bytes) ? decodeTrace(new ByteReader(bytes.subarray(1))) : null;
}

/** Whether the timer was set under an idempotency key. Mostly one look for a byte that is rare in definitions. */
export function isKeyed(bytes: Uint8Array): boolean {
  return bytes.includes(tag.idempotent) && decodeDefinition(bytes).idempotent;
}

/** The bytes of the same definition without its trace. */
export function withoutTrace(bytes: Uint8Array): Uint8Array {
  return hasTrace(bytes) ? bytes.subarray(1 + traceBytes) : bytes;
}

/** Throws MalformedError for bytes that are not a definition. */
export function decodeDefinition(bytes: Uint8Array): Definition {
  const reader = new ByteReader(bytes);
  const draft = new Draft();
  for (let name = reader.u8(); name !== tag.end; name = reader.u8()) draft.field(name, reader);
  return draft.finish();
}

/** A definition being read, field by field. */
class Draft {
  private intervalMs: number | null = null;
  private atMs: number | null = null;
  private cron: string | null = null;
  private timezone: string | null = null;
  private ending: Ending = { repeatForMs: null, untilMs: null, count: null, forever: false };
  private uri = '';
  private opaque = '';
  private method = 'POST';
  private readonly headers: Record<string, string> = {};
  private timeoutMs: number | null = null;
  private retry: RetryPolicy | null = null;
  private readonly tags: string[] = [];
  private readonly tagInfo: { type: string; count: number }[] = [];
  private batch = false;
  private idempotent = false;
  private origin: Origin | null = null;
  private onFailure: string | null = null;
  private event: string | null = null;
  private form: CallbackForm = 'plain';
  private trace: string | null = null;

  field(name: number, from: ByteReader): void {
    if (name <= tag.forever) this.timingField(name, from);
    else this.callbackField(name, from);
  }

  private timingField(name: number, from: ByteReader): void {
    if (name === tag.interval) this.intervalMs = from.f64();
    else if (name === tag.at) this.atMs = from.f64();
    else if (name === tag.cron) this.cron = from.text();
    else if (name === tag.timezone) this.timezone = from.text();
    else if (name === tag.repeatFor) this.ending = { ...this.ending, repeatForMs: from.f64() };
    else if (name === tag.until) this.ending = { ...this.ending, untilMs: from.f64() };
    else if (name === tag.count) this.ending = { ...this.ending, count: from.f64() };
    else this.ending = { ...this.ending, forever: true };
  }

  private callbackField(name: number, from: ByteReader): void {
    if (name === tag.uri) this.uri = from.text();
    else if (name === tag.opaque) this.opaque = from.uniqueText();
    else if (name === tag.method) this.method = from.text();
    else if (name === tag.header) this.header(from.text(), from.text());
    else if (name === tag.timeout) this.timeoutMs = from.f64();
    else if (name === tag.retry) this.retry = decodeRetry(from);
    else if (name === tag.tag) this.tags.push(from.text());
    else if (name === tag.tagInfo) this.tagInfo.push({ type: from.text(), count: from.f64() });
    else if (name === tag.idempotent) this.idempotent = true;
    else if (name === tag.origin) this.origin = decodeOrigin(from);
    else if (name === tag.batch) this.batch = true;
    else if (name === tag.onFailure) this.onFailure = from.text();
    else if (name === tag.event) this.event = from.text();
    else if (name === tag.cloudEvents) this.form = 'cloudevents';
    else if (name === tag.trace) this.trace = decodeTrace(from);
    else
      throw new MalformedError(`A definition has a field ${name} that this release does not know.`);
  }

  /** `__proto__` must end up as an ordinary header, not as the object's prototype. */
  private header(name: string, value: string): void {
    Object.defineProperty(this.headers, name, { value, enumerable: true, configurable: true });
  }

  finish(): Definition {
    const { uri, opaque, method, headers, timeoutMs, retry, tags, tagInfo } = this;
    const { batch, idempotent, origin, onFailure, event, form, trace } = this;
    const timing = this.timing();
    return {
      timing,
      uri,
      opaque,
      method,
      headers,
      timeoutMs,
      retry,
      tags,
      tagInfo,
      batch,
      idempotent,
      origin,
      onFailure,
      event,
      form,
      trace,
    };
  }

  private timing(): Timing {
    const { intervalMs, atMs, cron, timezone, ending } = this;
    if (intervalMs !== null) return { kind: 'interval', intervalMs, ending };
    if (atMs !== null) return { kind: 'at', atMs };
    if (cron !== null) return { kind: 'cron', cron, timezone, ending };
    throw new MalformedError('A definition says nothing about its timing.');
  }
}

function decodeRetry(from: ByteReader): RetryPolicy {
  const limitMs = from.f64();
  const baseMs = from.f64();
  const waitMsMax = from.f64();
  const attempts = from.f64();
  return { limitMs, baseMs, waitMsMax, attemptCountMax: attempts === 0 ? null : attempts };
}

function decodeOrigin(from: ByteReader): Origin {
  return {
    id: from.text(),
    versionMs: from.f64(),
    versionTie: from.u32(),
    sequence: from.u32(),
    dueMs: from.f64(),
    missed: from.u32(),
    attempts: from.u32(),
    reason: from.text(),
    gaveUpMs: from.f64(),
  };
}
