/** Which records a list shows. Pure: a record and the question in, yes or no out. */
import { decodeDefinition, type TimerRecord } from '@carillon/core';
import { failureOf, outcomeWord } from '../../timer/attempt.ts';
import { timerState } from '../../timer/state.ts';
import type { ListAsk } from '../wire/list.ts';

export function matches(record: TimerRecord, ask: ListAsk): boolean {
  return (
    isHeldAs(record, ask) &&
    isInState(record, ask.state) &&
    hasFailed(record, ask.failure) &&
    isDefinedAs(record, ask)
  );
}

/** Whether a uri leads to a receiver, its origin (`http://a:8080`) or with whole first segments of a path. */
export function leadsTo(uri: string, receiver: string): boolean {
  if (receiver === '') return true;
  if (!uri.startsWith(receiver)) return false;
  const next = uri[receiver.length];
  return next === undefined || receiver.endsWith('/') || '/?#'.includes(next);
}

/** Of a uri: `http://a.example:8080` of `http://a.example:8080/x`. */
export function originOf(uri: string): string {
  const end = uri.slice(uri.indexOf('://') + 3).search(/[/?#]/);
  return end === -1 ? uri : uri.slice(0, uri.indexOf('://') + 3 + end);
}

/** '' for any: timers that will pop. failing: they wait for their next pop, although the one before was given up. */
function isInState(record: TimerRecord, asked: string): boolean {
  const state = timerState(record);
  if (asked === 'failing') return state === 'pending' && failureOf(record.outcome) !== null;
  return asked === '' ? state === 'pending' || state === 'retrying' : state === asked;
}

function hasFailed({ outcome }: TimerRecord, failure: string): boolean {
  if (failure === '') return true;
  return failureOf(outcome) === failure || String(outcomeWord(outcome)) === failure;
}

function isDefinedAs({ body }: TimerRecord, { tag, tagPrefix, receiver }: ListAsk): boolean {
  if (tag === null && tagPrefix === '' && receiver === '') return true;
  const { uri, tags, tagInfo } = decodeDefinition(body);
  if (!leadsTo(uri, receiver)) return false;
  const hasTag = (test: (text: string) => boolean): boolean =>
    tags.some(test) || tagInfo.some(({ type }) => test(type));
  if (tagPrefix !== '' && !hasTag((text) => text.startsWith(tagPrefix))) return false;
  return tag === null || hasTag((text) => text === tag);
}

function isHeldAs({ replicas }: TimerRecord, { holder, role }: ListAsk): boolean {
  if (holder === '') return true;
  const position = replicas.indexOf(holder);
  if (role === '') return position !== -1;
  return role === 'primary' ? position === 0 : position > 0;
}
