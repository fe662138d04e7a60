/**
 * Dead letters of recurring timers at a real member: each that is sent again makes one callback, and no series begins
 * anew.
 */
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Carillon } from '@carillon/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliProcess, serve, type ServedMember } from './cli-process.ts';
import { listening } from './support/listening.ts';
import { until } from './support/until.ts';

let member: ServedMember;
let server: Server;
let status = 410;
let calls: string[] = [];

beforeEach(async () => {
  status = 410;
  calls = [];
  member = await serve(['--name', 'one', '--memory', '--log-level', 'warn']);
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      calls.push(`${body} ${String(request.headers['x-sequence-number'])}`);
      response.writeHead(status).end();
    });
  });
});
afterEach(async () => {
  await member.process.kill('SIGKILL');
  server.close();
  server.closeAllConnections();
});

async function command(...args: string[]): Promise<string[]> {
  const child = new CliProcess([...args, '--server', member.url]);
  const { code } = await child.ended;
  expect(code, child.errors.join('\n')).toBe(0);
  return child.lines;
}

test('a letter of a recurring timer, one that goes on forever and one of a cron pattern make one callback each, after a cancel too', async () => {
  const uri = `http://127.0.0.1:${await listening(server)}/`;
  const client = new Carillon({ members: [member.url], refresh: null });
  const timers = [
    await client.set({ every: '1s', count: 1000, uri, opaque: 'recurring' }),
    await client.set({ every: '1s', forever: true, uri, opaque: 'forever' }),
    await client.set({ cron: '* * * * * *', forever: true, uri, opaque: 'cron' }),
  ];
  const opaques = ['cron', 'forever', 'recurring'];
  const called = (): string[] => calls.map((call) => call.split(' ')[0] ?? '');
  const isEach = (): boolean => opaques.every((opaque) => called().includes(opaque));
  await until('a callback of each refused', 60_000, async () => isEach());
  for (const { id } of timers) await client.cancel(id);
  // Callbacks that were under way become letters all the same.
  await sleep(500);
  const refused = calls.splice(0).toSorted();
  const letters = await command('dead-letters', 'list', '--all', '--json');
  expect(letters).toHaveLength(refused.length);
  status = 200;
  await command('dead-letters', 'redeliver', '--all');
  await until('all sent again', 60_000, async () => calls.length >= refused.length);
  // Long enough for a series of a second that has begun anew to show.
  await sleep(2500);
  expect(calls.toSorted()).toEqual(refused);
  expect(await command('dead-letters', 'list', '--all', '--json')).toEqual([]);
});
