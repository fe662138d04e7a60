/** Callbacks of a cluster that fail: dead letters, timers that are tried again, destinations that are left alone. */
import { ApiError, type Carillon, UnreachableError } from '@carillon/client';
import type { Io } from '../command.ts';
import { arrayOf, isJson, type Json, textOf } from '../timers/api-timer.ts';
import { authorization, type ConnectFlags, serversOf } from './connect.ts';

/** Counted up to here; more are "1000 or more". */
const countedMax = 1000;
/** A member that takes longer is not waited for. */
const askMsMax = 2000;

/** null: not known, because the token is not for this question, or no member answered. */
export interface CallbackTrouble {
  readonly 'dead-letters': number | null;
  readonly retrying: number | null;
  readonly 'breakers-open': number | null;
}

export async function callbackTrouble(
  client: Carillon,
  flags: ConnectFlags,
  io: Io,
): Promise<CallbackTrouble> {
  const [letters, retrying, breakers] = await Promise.all([
    counted(client, '/dead-letters', {}, io),
    counted(client, '/timers', { state: 'retrying' }, io),
    breakersOpen(flags, io),
  ]);
  return { 'dead-letters': letters, retrying, 'breakers-open': breakers };
}

/** The known trouble in words; null: nothing fails. */
export function troubleText(trouble: CallbackTrouble): string | null {
  const { 'dead-letters': letters, retrying, 'breakers-open': breakers } = trouble;
  const said = [
    saying(letters, ['dead letter', 'dead letters']),
    saying(retrying, ['timer is tried again', 'timers are tried again']),
    saying(breakers, [
      'destination is left alone for a while',
      'destinations are left alone for a while',
    ]),
  ].filter((text) => text !== null);
  return said.length === 0 ? null : said.join(', ');
}

function saying(count: number | null, [one, many]: readonly [string, string]): string | null {
  if (count === null || count === 0) return null;
  if (count >= countedMax) return `${countedMax} ${many} or more`;
  return `${count} ${count === 1 ? one : many}`;
}

async function counted(
  client: Carillon,
  path: '/timers' | '/dead-letters',
  which: Readonly<Record<string, string>>,
  io: Io,
): Promise<number | null> {
  let count = 0;
  let cursor: string | undefined;
  try {
    do {
      const query = { ...which, limit: String(countedMax), cursor };
      const { body } = await client.request({
        method: 'GET',
        path,
        query,
        signal: io.signal,
        fits: (answer) => isJson(answer.body),
      });
      const page = body as Json;
      count += arrayOf(page, path.slice(1)).length;
      cursor = textOf(page['cursor']) || undefined;
    } while (cursor !== undefined && count < countedMax);
    return count;
  } catch (error) {
    if (error instanceof ApiError || error instanceof UnreachableError) return null;
    throw error;
  }
}

/** Each member judges destinations by itself: the largest number is told, so that none counts twice. */
async function breakersOpen(flags: ConnectFlags, io: Io): Promise<number | null> {
  const counts = await Promise.all(serversOf(flags, io).map((url) => breakersAt(url, flags, io)));
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : Math.max(...known);
}

async function breakersAt(url: string, flags: ConnectFlags, io: Io): Promise<number | null> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(askMsMax)]);
  try {
    const answer = await fetch(`${url}/metrics`, { headers: authorization(flags, io), signal });
    const lines = (await answer.text()).split('\n');
    const line = lines.find((one) => one.startsWith('carillon_callback_breakers_open'));
    return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ')));
  } catch (error) {
    if (io.signal.aborted) throw error;
    return null;
  }
}
