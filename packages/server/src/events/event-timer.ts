/**
 * An event as a timer that is due now. Its number and its version follow from the event, not from the member that tells
 * of it: members that tell of the same thing make the same record, and two sides of a net-split make records that merge
 * into one, whose callbacks a receiver recognises as the same. Pure.
 *
 * Example: a and b both find at 12:03 that http://shop.example fails. Both make the record for
 * `default destination-failing http://shop.example 12:00`; the one that comes second to its replicas finds it there.
 */
import {
  bareDefinition,
  type CallbackForm,
  type Definition,
  encodeDefinition,
  State,
  type TimerRecord,
  type Version,
} from '@carillon/core';
import { hashText } from '@carillon/placement';
import { headerValue } from '../callback/cloud-event.ts';
import type { EventKind } from '../config/options/event-wish.ts';
import type { Instant } from '../timer/schedule.ts';

export interface Event {
  readonly kind: EventKind;
  readonly namespace: string;
  /** The receiver, member or timer that it is about; empty: the whole namespace, or the whole cluster. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Tells events about one subject apart; mostly empty. */
  readonly detail: string;
  /** Events that have everything but their data in common, and the version, are one. */
  readonly version: Version;
}

export interface Addressed {
  readonly uri: string;
  readonly form: CallbackForm;
}

/** No promise makes an event hurry: the other replicas wait long enough to hear of the first one's claim. */
const gapMs = 10_000;

/** The number as a client of the namespace would see it. */
export function eventNumber({ kind, namespace, subject, detail, version }: Omit<Event, 'data'>) {
  const { versionMs, versionTie } = version;
  const text = JSON.stringify([kind, namespace, subject, detail, versionMs, versionTie]);
  return { hi: hashText(text, 1), lo: hashText(text, 2) };
}

/** The record, without replicas: they are filled in when it is placed. `number`: as members keep it. */
export function eventRecord(
  event: Event,
  to: Addressed,
  number: { readonly hi: number; readonly lo: number },
  { at, factor }: { readonly at: Instant; readonly factor: number },
): TimerRecord {
  const { nowMs } = at;
  return {
    hi: number.hi,
    lo: number.lo,
    namespace: event.namespace,
    factor,
    versionMs: event.version.versionMs,
    versionTie: event.version.versionTie,
    state: State.live,
    sequence: 0,
    attempt: 0,
    startMs: nowMs,
    dueMs: nowMs,
    gapMs,
    retryMs: nowMs,
    triedMs: nowMs,
    outcome: 0,
    replicas: [],
    body: encodeDefinition(eventDefinition(event, to, at)),
  };
}

function eventDefinition(
  { kind, namespace, subject, data }: Event,
  { uri, form }: Addressed,
  { wallMs }: Instant,
): Definition {
  const atMs = Math.floor(wallMs);
  const timestamp = new Date(atMs).toISOString();
  return {
    timing: { kind: 'at', atMs },
    uri,
    // The form that Standard Webhooks recommends: type, timestamp and data.
    opaque: JSON.stringify({ type: kind, timestamp, namespace, subject, data }),
    ...bareDefinition,
    headers: {
      'content-type': 'application/json',
      'x-timer-event': kind,
      ...(form === 'cloudevents' && subject !== '' && { 'ce-subject': headerValue(subject) }),
    },
    event: kind,
    form,
  };
}
