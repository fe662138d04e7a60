/** The member's API as the dashboard uses it. A refusal becomes an Error whose message can be shown. */
import { headersOf, problemOf, reasonIn, refuse } from './session.ts';
import type {
  DeadLetterShape,
  DoctorShape,
  EndedShape,
  HistoryChangeShape,
  HistoryEntryShape,
  LetterSummaryShape,
  LocksShape,
  PageShape,
  PreviewShape,
  Sample,
  TimerShape,
  TimingShape,
} from './parts/shapes.ts';

const limitMs = 15_000;
/** A page of a list that no index helps may take a minute, where there are millions of timers. */
const listLimitMs = 70_000;

class RefusedRequest extends Error {
  readonly status: number;
  readonly problem: object;
  constructor(status: number, message: string, problem: object = {}) {
    super(message);
    this.status = status;
    this.problem = problem;
  }
}

interface Asked {
  readonly body?: object;
  readonly limitMs?: number;
}

async function ask(method: string, path: string, asked: Asked = {}): Promise<Response> {
  const { body } = asked;
  const init: RequestInit = {
    method,
    headers: headersOf({ accept: 'application/json' }),
    signal: AbortSignal.timeout(asked.limitMs ?? limitMs),
  };
  if (body !== undefined) init.body = JSON.stringify(body);
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch {
    throw new RefusedRequest(0, 'The member did not answer. Try again, or open another member.');
  }
  if (answer.ok) return answer;
  const problem = await problemOf(answer);
  const why = reasonIn(problem, answer.status);
  if (answer.status === 401) refuse(why);
  throw new RefusedRequest(answer.status, why, problem);
}

export interface TimerQuery {
  readonly tag: string;
  /** Empty: all that will pop. */
  readonly state: string;
  readonly limit: number;
  readonly cursor: string | null;
  /** Only timers that this member holds, in the given role. */
  readonly member?: string;
  readonly role?: string;
}

export function listTimers(query: TimerQuery): Promise<PageShape<TimerShape>> {
  const parameters = new URLSearchParams();
  if (query.tag !== '') parameters.set('tag', query.tag);
  if (query.state !== '') parameters.set('state', query.state);
  if (query.member !== undefined) parameters.set('member', query.member);
  if (query.role !== undefined && query.role !== '') parameters.set('role', query.role);
  return findTimers(parameters, query.limit, query.cursor);
}

/** A page of the timers that the parameters of `GET /timers` ask for. */
export async function findTimers(
  which: URLSearchParams,
  limit: number,
  cursor: string | null,
): Promise<PageShape<TimerShape>> {
  const parameters = new URLSearchParams(which);
  parameters.set('limit', String(limit));
  if (cursor !== null) parameters.set('cursor', cursor);
  const path = `timers?${parameters.toString()}`;
  const page = (await (await ask('GET', path, { limitMs: listLimitMs })).json()) as {
    timers: TimerShape[];
    cursor: string | null;
    missing: string[];
  };
  return { items: page.timers, cursor: page.cursor, missing: page.missing };
}

/** How many timers match in all; not exact: about so many. */
export async function countTimers(
  which: URLSearchParams,
): Promise<{ readonly count: number; readonly exact: boolean }> {
  const parameters = new URLSearchParams(which);
  parameters.set('limit', '1');
  parameters.set('total', 'true');
  const answer = await ask('GET', `timers?${parameters.toString()}`);
  return ((await answer.json()) as { total: { count: number; exact: boolean } }).total;
}

/** null: not known, or ended. */
export async function getTimer(id: string): Promise<TimerShape | null> {
  try {
    return (await (await ask('GET', `timers/${encodeURIComponent(id)}`)).json()) as TimerShape;
  } catch (error) {
    if (error instanceof RefusedRequest && error.status === 404) return null;
    throw error;
  }
}

/** How a timer that is not known any more has ended, as far as members remember. */
export async function getEnded(id: string): Promise<EndedShape> {
  try {
    await ask('GET', `timers/${encodeURIComponent(id)}`);
    return {};
  } catch (error) {
    if (error instanceof RefusedRequest && error.status === 404) return error.problem;
    throw error;
  }
}

/** Attempts and changes of a timer, the newest first. */
export async function getHistory(id: string, limit: number): Promise<PageShape<HistoryEntryShape>> {
  const page = await askEntries(`timers/${encodeURIComponent(id)}/history?limit=${limit}`);
  return page as PageShape<HistoryEntryShape>;
}

export interface AuditQuery {
  /** Empty: of all tokens. */
  readonly actor: string;
  /** Empty: of every kind. */
  readonly action: string;
  /** RFC 3339; empty: as far back as members remember. */
  readonly since: string;
  readonly limit: number;
  readonly cursor: string | null;
}

export async function getAudit(query: AuditQuery): Promise<PageShape<HistoryChangeShape>> {
  const parameters = new URLSearchParams({ limit: String(query.limit) });
  for (const name of ['actor', 'action', 'since'] as const) {
    if (query[name] !== '') parameters.set(name, query[name]);
  }
  if (query.cursor !== null) parameters.set('cursor', query.cursor);
  const page = await askEntries(`audit?${parameters.toString()}`);
  return page as PageShape<HistoryChangeShape>;
}

async function askEntries(path: string): Promise<PageShape<unknown>> {
  const page = (await (await ask('GET', path)).json()) as {
    entries: unknown[];
    cursor: string | null;
    missing: string[];
  };
  return { items: page.entries, cursor: page.cursor, missing: page.missing };
}

export async function getLocks(): Promise<LocksShape> {
  return (await (await ask('GET', 'locks')).json()) as LocksShape;
}

export async function getDoctor(): Promise<DoctorShape> {
  return (await (await ask('GET', 'doctor')).json()) as DoctorShape;
}

export async function getBundle(): Promise<unknown> {
  return (await ask('GET', 'doctor/bundle')).json();
}

/** Pops and lateness of a longer range, oldest first. */
export async function getSamples(range: string): Promise<readonly Sample[]> {
  const answer = await ask('GET', `samples?range=${range}`);
  return ((await answer.json()) as { samples: Sample[] }).samples;
}

/** The id of the new timer. */
export async function setTimer(body: object): Promise<string> {
  const answer = await ask('POST', 'timers', { body });
  return ((await answer.json()) as TimerShape).id;
}

/** The id that the replaced timer has now. */
export async function replaceTimer(id: string, body: object): Promise<string> {
  const answer = await ask('PUT', `timers/${encodeURIComponent(id)}`, { body });
  return ((await answer.json()) as TimerShape).id;
}

/** The id of the new timer that makes the callback now. */
/** Erases the words of receivers in the history of the namespace. The members that did not do it. */
export async function eraseAnswers(): Promise<readonly string[]> {
  const answer = await ask('DELETE', 'history/answers');
  return ((await answer.json()) as { missing: string[] }).missing;
}

export async function runTimer(id: string): Promise<string> {
  const answer = await ask('POST', `timers/${encodeURIComponent(id)}/run`);
  return ((await answer.json()) as TimerShape).id;
}

/** `zone`: of the local times; null: that of the timing. */
export async function previewTiming(
  timing: TimingShape,
  zone: string | null,
): Promise<PreviewShape> {
  const query = zone === null ? '' : `?timezone=${encodeURIComponent(zone)}`;
  return (await (
    await ask('POST', `timers/preview${query}`, { body: { timing } })
  ).json()) as PreviewShape;
}

export async function cancelTimer(id: string): Promise<void> {
  await ask('DELETE', `timers/${encodeURIComponent(id)}`);
}

export interface LetterQuery {
  /** Origin of the callbacks; empty: any. */
  readonly receiver: string;
  /** Class of failure; empty: any. */
  readonly failure: string;
}

function letterParameters({ receiver, failure }: LetterQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  if (receiver !== '') parameters.set('receiver', receiver);
  if (failure !== '') parameters.set('failure', failure);
  return parameters;
}

export async function listDeadLetters(
  query: LetterQuery,
  cursor: string | null,
  limit = 50,
): Promise<PageShape<DeadLetterShape>> {
  const parameters = letterParameters(query);
  parameters.set('limit', String(limit));
  if (cursor !== null) parameters.set('cursor', cursor);
  const page = (await (await ask('GET', `dead-letters?${parameters.toString()}`)).json()) as {
    'dead-letters': DeadLetterShape[];
    cursor: string | null;
    missing: string[];
  };
  return { items: page['dead-letters'], cursor: page.cursor, missing: page.missing };
}

/** null: there is no such letter any more. */
export async function getDeadLetter(id: string): Promise<DeadLetterShape | null> {
  try {
    const answer = await ask('GET', `dead-letters/${encodeURIComponent(id)}`);
    return (await answer.json()) as DeadLetterShape;
  } catch (error) {
    if (error instanceof RefusedRequest && error.status === 404) return null;
    throw error;
  }
}

export async function summarizeDeadLetters(query: LetterQuery): Promise<LetterSummaryShape> {
  const answer = await ask('GET', `dead-letters/summary?${letterParameters(query).toString()}`);
  return (await answer.json()) as LetterSummaryShape;
}

/** The ids of all letters that match, page by page. */
export async function deadLetterIds(query: LetterQuery): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: PageShape<DeadLetterShape> = await listDeadLetters(query, cursor, 500);
    ids.push(...page.items.map(({ id }) => id));
    ({ cursor } = page);
  } while (cursor !== null);
  return ids;
}

export async function redeliver(id: string): Promise<void> {
  await ask('POST', `dead-letters/${encodeURIComponent(id)}/redeliver`);
}

export async function discard(id: string): Promise<void> {
  await ask('DELETE', `dead-letters/${encodeURIComponent(id)}`);
}
