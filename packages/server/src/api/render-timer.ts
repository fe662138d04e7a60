/** Timers and dead letters as clients read them: the form of the body that set them, plus their state. */
import type { Definition, RetryPolicy, Timing } from '@carillon/core';
import { formatInstant } from './instant.ts';
import type { DeadLetterJson, LetterSummaryJson } from './schema/dead-letter.ts';
import type { EndedJson } from './schema/problem.ts';
import type { RetryBody, TimerJson, TimingBody } from './schema/timer.ts';
import type { EndedView, LetterSummary, OneTimerView, TimerView } from '../request/service.ts';

export function renderTimer(timer: TimerView): TimerJson {
  const { definition } = timer;
  return {
    id: timer.id,
    state: timer.state,
    timing: renderTiming(definition.timing),
    callback: renderCallback(definition),
    reliability: { 'replication-factor': timer.factor },
    ...(definition.tagInfo.length > 0 && {
      statistics: { 'tag-info': definition.tagInfo.map(({ type, count }) => ({ type, count })) },
    }),
    ...(definition.tags.length > 0 && { tags: [...definition.tags] }),
    set: formatInstant(timer.setMs),
    sequence: timer.sequence,
    attempt: timer.attempt,
    'next-due': timer.nextDueMs === null ? null : formatInstant(timer.nextDueMs),
    'next-attempt': timer.nextAttemptMs === null ? null : formatInstant(timer.nextAttemptMs),
    'last-outcome': timer.lastOutcome,
    'last-failure': timer.lastFailure,
    ...(timer.lastDetail !== null && { 'last-detail': timer.lastDetail }),
    version: timer.version,
    replicas: [...timer.replicas],
    ...(definition.event !== null && { event: definition.event }),
  };
}

export function renderOneTimer(timer: OneTimerView): TimerJson {
  return {
    ...renderTimer(timer),
    ...(timer.deadLetter !== null && { 'dead-letter': timer.deadLetter }),
  };
}

/** Members of the problem that tells of a timer which has ended. */
export function renderEnded({ how, atMs, pops, deadLetter }: EndedView): EndedJson {
  return {
    ended: how,
    'ended-at': formatInstant(atMs),
    pops,
    ...(deadLetter !== null && { 'dead-letter': deadLetter }),
  };
}

export function endedWords({ how, atMs, deadLetter }: EndedView): string {
  const when = formatInstant(atMs);
  if (how === 'cancelled') return `The timer was cancelled at ${when}.`;
  if (how === 'delivered') return `The timer popped for the last time at ${when}.`;
  const where =
    deadLetter === null
      ? ' Its dead letter was delivered again or dropped since; the history of the timer tells.'
      : ` GET /dead-letters/${deadLetter} shows it.`;
  return `The last pop of the timer was given up at ${when}.${where}`;
}

export function renderDeadLetter(letter: TimerView): DeadLetterJson {
  const { definition } = letter;
  const { origin } = definition;
  return {
    id: letter.id,
    timer: origin?.id ?? letter.id,
    callback: renderCallback(definition),
    ...(definition.tags.length > 0 && { tags: [...definition.tags] }),
    sequence: origin?.sequence ?? letter.sequence,
    due: formatInstant(origin?.dueMs ?? letter.setMs),
    missed: origin?.missed ?? 0,
    attempts: origin?.attempts ?? letter.attempt,
    reason: origin?.reason ?? '',
    'gave-up': formatInstant(origin?.gaveUpMs ?? letter.setMs),
    'last-outcome': letter.lastOutcome,
    'last-failure': letter.lastFailure,
    replicas: [...letter.replicas],
  };
}

export function renderLetterSummary({ groups, missing }: LetterSummary): LetterSummaryJson {
  return {
    total: groups.reduce((sum, { count }) => sum + count, 0),
    groups: groups.map(({ receiver, failure, count, oldestMs, newestMs }) => ({
      receiver,
      failure,
      count,
      oldest: formatInstant(oldestMs),
      newest: formatInstant(newestMs),
    })),
    missing: [...missing],
  };
}

function renderTiming(timing: Timing): TimingBody {
  if (timing.kind === 'at') return { at: formatInstant(timing.atMs) };
  const { repeatForMs, untilMs, count, forever } = timing.ending;
  return {
    ...(timing.kind === 'interval'
      ? { interval: timing.intervalMs / 1000 }
      : { cron: timing.cron, ...(timing.timezone !== null && { timezone: timing.timezone }) }),
    ...(repeatForMs !== null && { 'repeat-for': repeatForMs / 1000 }),
    ...(untilMs !== null && { until: formatInstant(untilMs) }),
    ...(count !== null && { count }),
    ...(forever && { forever }),
  };
}

function renderCallback(definition: Definition): TimerJson['callback'] {
  const { uri, opaque, method, headers, timeoutMs, batch, retry, form, onFailure } = definition;
  return {
    http: {
      uri,
      opaque,
      method,
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(timeoutMs !== null && { timeout: timeoutMs / 1000 }),
      ...(batch && { batch }),
      ...(form !== 'plain' && { form }),
    },
    ...(retry !== null && { retry: renderRetry(retry) }),
    ...(onFailure !== null && { 'on-failure': { uri: onFailure } }),
  };
}

function renderRetry(retry: RetryPolicy): RetryBody {
  return {
    limit: retry.limitMs / 1000,
    base: retry.baseMs / 1000,
    'max-wait': retry.waitMsMax / 1000,
    ...(retry.attemptCountMax !== null && { 'max-attempts': retry.attemptCountMax }),
  };
}
