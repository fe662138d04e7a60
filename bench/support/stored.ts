/** A member in this process that holds timers and dead letters, and the requests whose work depends on them. */
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { FakeCallbacks, MemoryDisk } from '@carillon/core/testing';
import { aloneSource } from '../../packages/server/src/cluster/sources/alone.ts';
import { defaultConfig } from '../../packages/server/src/config/config.ts';
import type { ApiRequest, ApiResponse } from '../../packages/server/src/http/message.ts';
import { Member } from '../../packages/server/src/member.ts';

export interface StoredShape {
  readonly name: string;
  readonly request: ApiRequest;
  /** Sets the timers again that the request takes away. */
  readonly before?: () => Promise<void>;
}

export interface Stored {
  readonly handle: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;
  readonly shapes: readonly StoredShape[];
  stop(): Promise<void>;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const smallCount = 10_000;
const largeCount = 500;
const letterCount = 5_000;
const perBatch = 500;
/** Changes of one timer: entries of its history. */
const changeCount = 1000;
const changed = '0000000000000abc-1';
const opaque = 'x'.repeat(64 * 1024);

export async function storedMember(): Promise<Stored> {
  const clock = new SystemClock();
  const callbacks = new FakeCallbacks(clock);
  callbacks.script = () => 410;
  const member = await Member.start({
    name: 'one',
    env: {
      clock,
      random: new SystemRandom(),
      log: silent,
      disk: new MemoryDisk(),
      network: null,
      callbacks,
    },
    config: defaultConfig,
    source: aloneSource({ name: 'one', address: 'one:1' }),
    release: { version: 'bench', runtime: 'bench' },
    onFailed: (error) => {
      throw error;
    },
  });
  const handle = (request: ApiRequest) => member.router.handle(request);
  const set = async (count: number, timer: object, length = perBatch): Promise<void> => {
    for (let left = count; left > 0; left -= length) {
      const batch = Array.from({ length: Math.min(left, length) }, () => timer);
      await handle(asked('POST', '/timers/batch', JSON.stringify(batch)));
    }
  };
  const tagged = (): Promise<void> => set(smallCount / 2, timerOf({ tags: ['half'] }));
  await set(smallCount / 2, timerOf({}));
  await set(largeCount, timerOf({ large: true }), 50);
  const letters = async (): Promise<void> => {
    const missing = letterCount - member.store.counts.dead;
    await set(missing, timerOf({ seconds: 0 }));
    while (member.store.counts.dead < letterCount) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await tagged();
  await letters();
  const again = JSON.stringify(timerOf({}));
  for (let i = 0; i < changeCount; i++) await handle(asked('PUT', `/timers/${changed}`, again));
  return { handle, shapes: storedShapes(tagged, letters), stop: () => member.stop() };
}

/** `tagged` and `letters`: set the timers again that a request takes away. */
export function storedShapes(
  tagged: () => Promise<void>,
  letters: () => Promise<void>,
): StoredShape[] {
  const get = (name: string, target: string): StoredShape => {
    return { name: `stored: ${name}`, request: asked('GET', target) };
  };
  return [
    get('a page of 1,000 timers, 64 KiB ones among them', '/timers?limit=1000'),
    get('a page of 1,000 by tag', '/timers?limit=1000&tag=half'),
    get('a list by a tag that no timer has', '/timers?limit=1000&tag=none'),
    get('a page of 500 dead letters', '/dead-letters?limit=500'),
    get(`the summary of ${letterCount} dead letters`, '/dead-letters/summary'),
    get('a page of 1,000 entries of the audit', '/audit?limit=1000'),
    get(`a page of 1,000 entries of one timer's history`, `/timers/${changed}/history?limit=1000`),
    get('the attempts of one timer', `/timers/${changed}/attempts`),
    get('metrics', '/metrics'),
    get('the cluster', '/cluster'),
    {
      name: `stored: a cancel of ${smallCount / 2} timers by tag`,
      request: asked('DELETE', '/timers?tag=half'),
      before: tagged,
    },
    {
      name: `stored: a discard of ${letterCount} dead letters`,
      request: asked('DELETE', '/dead-letters?all=true'),
      before: letters,
    },
  ];
}

interface Timer {
  readonly seconds?: number;
  readonly tags?: readonly string[];
  readonly large?: boolean;
}

function timerOf({ seconds = 36_000, tags = [], large = false }: Timer): object {
  const http = { uri: 'http://receiver.example/', ...(large && { opaque }) };
  return { timing: { interval: seconds }, callback: { http }, tags };
}

function asked(method: string, target: string, body = ''): ApiRequest {
  const [path = '', query = ''] = target.split('?', 2);
  return { method, path, query, headers: {}, body: Buffer.from(body) };
}
