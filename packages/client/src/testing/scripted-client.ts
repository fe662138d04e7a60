/** A client whose members answer by script, and a clock that is moved by hand. */
import { Carillon, type CarillonOptions } from '../carillon.ts';
import { FakeSystem, type Scripted, type Seen, standIn } from './stand-in.ts';

export const a = 'http://a:1';
export const b = 'http://b:1';
export const spec = { in: '10s', uri: 'http://r/x' } as const;
export const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });

/** Knows the member `a` unless told otherwise. */
export function scriptedClient(
  script: (seen: Seen) => Scripted,
  options: Partial<CarillonOptions> = {},
) {
  const system = new FakeSystem();
  const { fetch, seen } = standIn(script);
  const client = new Carillon({ members: [a], fetch, system, refresh: null, ...options });
  return { client, seen, system };
}
