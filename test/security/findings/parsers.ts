/** Attacks on parsers and on the connections to receivers: findings 1, 3 and 10. */
import { createServer, type Socket } from 'node:net';
import type { CallbackResult } from '@carillon/core';
import { SystemClock } from '@carillon/core/system';
import { longestTurn } from '../../../bench/support/turn.ts';
import { longRequests, most } from '../../../packages/server/src/api/long-requests.contract.ts';
import { AnswerParser } from '../../../packages/server/src/callback/answers/answer-parser.ts';
import { HttpCallbacks } from '../../../packages/server/src/callback/callback.ts';
import { Guard } from '../../../packages/server/src/callback/guard/guard.ts';
import { splitUri } from '../../../packages/server/src/callback/uri.ts';
import { cpuMs, type Finding, shownMs } from './finding.ts';
import { listening } from '../../e2e/support/listening.ts';

const turnMsMax = 20;

const blanks: Finding = {
  number: 1,
  attack: 'a receiver answers with `A:`, 2,000 to 16,000 blanks and a bare line feed',
  before: '4 s at 2,000 blanks, more than 15 s at 4,000',
  limit: `${turnMsMax} ms`,
  run: async () => {
    const times = [2000, 4000, 16_000].map((count) => {
      const answer = Buffer.from(`HTTP/1.1 200 OK\r\nA:${' '.repeat(count)}\n\r\n`);
      return cpuMs(() => new AnswerParser('POST').push(answer));
    });
    const longest = Math.max(...times);
    return { now: `${shownMs(longest)} at most`, holds: longest <= turnMsMax };
  },
};

/** The shapes that were measured then, in the words of `longRequests`. */
const long: readonly (readonly [shape: string, attack: string, before: string])[] = [
  ['many crons that never come', '10,000 impossible crons in one batch', '39 s'],
  ['bad tags, megabytes of them', '8 MiB of bad tags', '4.8 s'],
  ['bad headers, megabytes of them', '500,000 bad headers', '5.4 s'],
  ['megabytes of brackets', '8 MiB of brackets', '2.9 s'],
  ['a batch: megabytes of line feeds', '8 MiB of line feeds', '1.5 s'],
];

const requests: readonly Finding[] = [
  ...long.map(
    ([shape, attack, before]): Finding => ({
      number: 3,
      attack: `${attack}: the longest turn of the event loop`,
      before,
      limit: `${turnMsMax} ms`,
      run: async () => {
        const found = longRequests(most).find(({ name }) => name.includes(shape));
        if (found === undefined) throw new Error(`There is no shape ${shape}.`);
        const { turnMs } = await longestTurn(found.request);
        return { now: shownMs(turnMs), holds: turnMs <= turnMsMax };
      },
    }),
  ),
  {
    number: 3,
    attack: 'every shape of a long request that is known, with 500 items: the longest turn',
    before: '39 s',
    limit: `${turnMsMax} ms`,
    run: async () => {
      let longest = { turnMs: 0, name: '' };
      const shapes = longRequests({ ...most, itemCount: 500 });
      for (const { name, request } of shapes) {
        const { turnMs } = await longestTurn(request);
        if (turnMs > longest.turnMs) longest = { turnMs, name };
      }
      const now = `${shownMs(longest.turnMs)} of ${shapes.length} shapes (${longest.name})`;
      return { now, holds: longest.turnMs <= turnMsMax };
    },
  },
];

const yes = 'HTTP/1.1 204 Yes\r\n\r\n';
const no = 'HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n';

/** Calls a receiver so many times; `behave` answers the nth request of a connection. */
async function called(
  count: number,
  behave: (socket: Socket, nth: number) => void,
): Promise<CallbackResult[]> {
  const server = createServer((socket) => {
    let nth = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => behave(socket, ++nth));
  });
  const port = await listening(server);
  const guard = new Guard({ allow: [], loopback: true, denied: () => [] });
  const callbacks = new HttpCallbacks({ clock: new SystemClock(), guard, connectionCountMax: 64 });
  const uri = `http://127.0.0.1:${port}/`;
  const request = { uri, split: splitUri(uri), namespace: 'default', method: 'POST' };
  const results: CallbackResult[] = [];
  for (let i = 0; i < count; i++) {
    results.push(
      await new Promise((resolve) =>
        callbacks.call({ ...request, headers: {}, body: new Uint8Array(), limitMs: 5000 }, resolve),
      ),
    );
  }
  await callbacks.close();
  server.close();
  return results;
}

const statusOf = (result: CallbackResult): number => (result.kind === 'answer' ? result.status : 0);

const receivers: readonly Finding[] = [
  {
    number: 10,
    attack: 'a receiver ends kept connections just as the next of 400 callbacks is sent',
    before: '272 of 400 failed',
    limit: '0 fail',
    run: async () => {
      const results = await called(400, (socket, nth) => {
        if (nth === 1) socket.write(yes);
        else socket.destroy();
      });
      const failed = results.filter((result) => statusOf(result) !== 204).length;
      return { now: `${failed} of 400 fail`, holds: failed === 0 };
    },
  },
  {
    number: 10,
    attack: 'a receiver refuses each of 200 callbacks and sends an answer too many',
    before: '23 of 200 counted as delivered',
    limit: '0 delivered',
    run: async () => {
      const results = await called(200, (socket) => {
        socket.write(no);
        socket.write(yes);
      });
      const wrong = results.filter((result) => statusOf(result) !== 503).length;
      return { now: `${wrong} of 200 counted as delivered`, holds: wrong === 0 };
    },
  },
  {
    number: 10,
    attack: 'a receiver says 200 with equal lengths twice, a folded line, or line feeds alone',
    before: 'not delivered',
    limit: '3 delivered',
    run: async () => {
      const odd = [
        'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n',
        'HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n',
        'HTTP/1.1 200 OK\ncontent-length: 0\n\n',
      ];
      let delivered = 0;
      for (const answer of odd) {
        const [result] = await called(1, (socket) => socket.end(answer));
        if (result !== undefined && statusOf(result) === 200) delivered++;
      }
      return { now: `${delivered} of ${odd.length} delivered`, holds: delivered === odd.length };
    },
  },
];

export const parserFindings: readonly Finding[] = [blanks, ...requests, ...receivers];
