/** Attacks by single requests at a member: findings 5, 8, 9 and 11 (with `details.ts`). */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newNumberKey, newToken, renderTokens, tokenDigest } from '@carillon/server';
import { serve } from '../../e2e/cli-process.ts';
import { sent } from '../proxies/load.ts';
import { forgetsLeavers, saysTheSame } from './details.ts';
import type { Finding } from './finding.ts';

interface Member {
  readonly url: string;
  readonly port: number;
}

/** Does the work at a member of its own. */
async function atMember<T>(
  flags: readonly string[],
  work: (one: Member) => Promise<T>,
): Promise<T> {
  const one = await serve(['--name', 'one', '--memory', '--log-level', 'error', ...flags]);
  try {
    return await work({ url: one.url, port: Number(new URL(one.url).port) });
  } finally {
    await one.process.kill('SIGKILL');
  }
}

/** With a tokens file for these namespaces; the work gets a token of each. */
async function atMemberWithTokens<T>(
  namespaces: readonly string[],
  work: (one: Member, tokens: readonly string[]) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-tokens-'));
  const made = namespaces.map((namespace) => {
    const { id, text } = newToken(randomBytes);
    const created = new Date().toISOString();
    const about = { name: namespace, scope: 'write' as const, namespace, created, until: null };
    return { text, token: { id, ...about, digest: tokenDigest(text) } };
  });
  const tokens = made.map(({ token }) => token);
  const file = join(folder, 'tokens.json');
  writeFileSync(file, renderTokens({ tokens, numberKey: newNumberKey(randomBytes) }));
  try {
    return await atMember(['--auth-tokens', file], (one) =>
      work(
        one,
        made.map(({ text }) => text),
      ),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const timer = JSON.stringify({
  timing: { interval: 3600 },
  callback: { http: { uri: 'http://127.0.0.1:9/', opaque: 'x' } },
});

const bodies: Finding = {
  number: 5,
  attack: '2,000 bodies of 200 KB without a token, to a path that does not exist',
  before: 'every set with a token is 503',
  limit: '0 of 50 sets refused',
  run: () =>
    atMemberWithTokens(['a'], async ({ url, port }, [token = '']) => {
      const head = 'POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 200000\r\n\r\n';
      const text = head + 'x'.repeat(190_000);
      const crowd = Array.from({ length: 200 }, async () => {
        for (let i = 0; i < 10; i++) await sent(port, text, false);
      });
      let refused = 0;
      for (let i = 0; i < 50; i++) {
        const headers = { authorization: `Bearer ${token}` };
        const { status } = await fetch(`${url}/timers`, { method: 'POST', body: timer, headers });
        if (status !== 200) refused++;
      }
      await Promise.all(crowd);
      return { now: `${refused} of 50 sets refused`, holds: refused === 0 };
    }),
};

/** Headers that browsers send for a page of another origin, and for one whose name points to the member. */
const fromBrowsers: readonly (readonly [line: string, headers: string])[] = [
  ['POST /timers', 'host: 127.0.0.1\r\norigin: https://evil.example'],
  ['POST /timers', 'host: 127.0.0.1\r\nsec-fetch-site: cross-site'],
  ['POST /timers', 'host: 127.0.0.1\r\norigin: null'],
  ['DELETE /timers?tag=x', 'host: localhost\r\norigin: http://evil.example'],
  ['GET /timers', 'host: 127.0.0.1\r\norigin: http://evil.example'],
  ['GET /timers', 'host: evil.example'],
  ['POST /timers', 'host: evil.example'],
  ['GET /timers', 'host: 127.0.0.1.evil.example'],
];

const browsers: Finding = {
  number: 8,
  attack:
    'requests of web pages of other origins, and by DNS rebinding, at a member without tokens',
  before: 'all are taken: any request to loopback, all timers read',
  limit: `0 of ${fromBrowsers.length} taken`,
  run: () =>
    atMember([], async ({ port }) => {
      let taken = 0;
      for (const [line, headers] of fromBrowsers) {
        const body = line.startsWith('POST') ? timer : '';
        const head = `${line} HTTP/1.1\r\n${headers}\r\nconnection: close\r\ncontent-length: ${body.length}`;
        const answer = await sent(port, `${head}\r\n\r\n${body}`, false);
        if (!answer.startsWith('HTTP/1.1 403 ')) taken++;
      }
      return { now: `${taken} of ${fromBrowsers.length} taken`, holds: taken === 0 };
    }),
};

const triedNumbers = 20;

const numbers: Finding = {
  number: 9,
  attack: `a tenant sets ${triedNumbers} chosen ids and ${triedNumbers} keys that another tenant uses`,
  before: 'takes them, and learns which are used',
  limit: 'answers as for unused ones, and the other tenant keeps its timers',
  run: () =>
    atMemberWithTokens(['a', 'b'], async ({ url }, [a = '', b = '']) => {
      const ask = async (token: string, path: string, key: string | null): Promise<string> => {
        const headers = {
          authorization: `Bearer ${token}`,
          ...(key !== null && { 'idempotency-key': key }),
        };
        const method = key === null ? 'PUT' : 'POST';
        const answer = await fetch(`${url}${path}`, { method, headers, body: timer });
        await answer.arrayBuffer();
        const isOwn = key === null && answer.headers.get('location')?.startsWith(path.slice(0, 24));
        return `${answer.status} ${isOwn}`;
      };
      const idOf = (i: number): string => `/timers/${i.toString(16).padStart(16, '0')}-2`;
      let differ = 0;
      for (let i = 1; i <= triedNumbers; i++) {
        await ask(a, idOf(i), null);
        await ask(a, '/timers', `key-${i}`);
        const used = [await ask(b, idOf(i), null), await ask(b, '/timers', `key-${i}`)];
        const unused = [await ask(b, idOf(1000 + i), null), await ask(b, '/timers', `other-${i}`)];
        if (used.join() !== unused.join() || !used[0]?.startsWith('200')) differ++;
      }
      const headers = { authorization: `Bearer ${a}` };
      const list = (await (await fetch(`${url}/timers?limit=1000`, { headers })).json()) as {
        timers: unknown[];
      };
      const kept = list.timers.length;
      const now = `${differ} answers differ, ${kept} of ${2 * triedNumbers} timers of the other kept`;
      return { now, holds: differ === 0 && kept === 2 * triedNumbers };
    }),
};

const close = 'host: 127.0.0.1\r\nconnection: close\r\n';
const setWith = (http: object): string => {
  const body = JSON.stringify({ timing: { interval: 3600 }, callback: { http } });
  return `POST /timers HTTP/1.1\r\n${close}content-length: ${body.length}\r\n\r\n${body}`;
};

/** Each holds when the answer fits. */
const small: readonly (readonly [text: string, fits: RegExp])[] = [
  [
    `HEAD /nowhere HTTP/1.1\r\n${close}content-length: 300000\r\n\r\n`,
    /^HTTP\/1\.1 4\d\d [^]*\r\n\r\n$/,
  ],
  [
    setWith({ uri: 'http://127.0.0.1:9/', headers: { x_sequence_number: '1' } }),
    /^HTTP\/1\.1 400 /,
  ],
  [
    `GET / HTTP/1.1\r\n${close}accept-encoding: gzip;q=0\r\n\r\n`,
    /^(?![^]*content-encoding)HTTP\/1\.1 200 /i,
  ],
  [`GET /metrics/ HTTP/1.1\r\n${close}\r\n`, /^HTTP\/1\.1 404 /],
  [`GET /timers HTTP/1.1\r\n${close}\r\n`, /x-content-type-options: nosniff/i],
];

const details: Finding = {
  number: 11,
  attack:
    'HEAD refused early, `x_sequence_number`, `gzip;q=0`, `/metrics/`, JSON without `nosniff`, batch key `k` item 0 as `k/0`, refusals cut anywhere, TLS clients that leave',
  before: '8 of 8 wrong',
  limit: '0 wrong',
  run: () =>
    atMember([], async ({ url, port }) => {
      let wrong = 0;
      for (const [text, fits] of small) if (!fits.test(await sent(port, text, false))) wrong++;
      const keyed = (path: string, key: string, body: string): Promise<Response> =>
        fetch(`${url}${path}`, { method: 'POST', headers: { 'idempotency-key': key }, body });
      const batch = (await (await keyed('/timers/batch', 'k', `[${timer}]`)).json()) as {
        id: string;
      }[];
      const single = (await keyed('/timers', 'k/0', timer)).headers.get('location');
      if (single === `/timers/${batch[0]?.id}`) wrong++;
      if (!(await saysTheSame(port))) wrong++;
      if (!(await forgetsLeavers())) wrong++;
      return { now: `${wrong} of ${small.length + 3} wrong`, holds: wrong === 0 };
    }),
};

export const requestFindings: readonly Finding[] = [bodies, browsers, numbers, details];
