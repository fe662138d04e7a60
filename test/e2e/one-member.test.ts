/**
 * One member as a real process: every set timer pops, once and on time, through stops, kills and restarts of the
 * process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon } from '@carillon/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliProcess, serve, type ServedMember } from './cli-process.ts';
import { Receiver } from './receiver.ts';
import { latenessAt } from './support/recorder.ts';

/** Far above the few milliseconds of a quiet machine, low enough to find a timer that waits for something else. */
const lateMsMax = 2000;

let folder: string;
const started: CliProcess[] = [];
const receivers: Receiver[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-e2e-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.kill('SIGKILL')));
  for (const receiver of receivers.splice(0)) receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

async function member(): Promise<ServedMember> {
  const served = await serve(['--name', 'one', '--data', folder, '--log-level', 'warn']);
  started.push(served.process);
  return served;
}

async function openReceiver(): Promise<{ receiver: Receiver; uri: string }> {
  const receiver = new Receiver();
  receivers.push(receiver);
  return { receiver, uri: await receiver.listen() };
}

function clientOf({ url }: ServedMember): Carillon {
  return new Carillon({ members: [url], refresh: null, timeout: '60s' });
}

/** A gauge or counter of a member, all its label sets that fit added up. */
async function metric({ url }: ServedMember, name: RegExp): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => name.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

describe('one member', () => {
  test('a timer set with a plain request pops once at `carillon listen`, not early and soon after due', async () => {
    const listening = new CliProcess(['listen', '--port', '0', '--json']);
    started.push(listening);
    const { listening: uri } = await listening.line((line) => 'listening' in line);
    const served = await member();
    const set = (seconds: number, opaque: string): Promise<Response> =>
      fetch(`${served.url}/timers`, {
        method: 'POST',
        body: JSON.stringify({
          timing: { interval: seconds },
          callback: { http: { uri, opaque } },
        }),
      });
    const answer = await set(2, 'first');
    expect(answer.status).toBe(200);
    const id = answer.headers.get('location')?.slice('/timers/'.length);
    // When the later one is there, a second callback of the first would have come too.
    await set(3, 'second');
    await listening.line((line) => line['opaque'] === 'second');
    const pops = listening.json().filter((line) => 'opaque' in line);
    expect(pops.map((pop) => [pop['opaque'], pop['sequence'], pop['attempt']])).toEqual([
      ['first', 1, 1],
      ['second', 1, 1],
    ]);
    expect(pops[0]?.['id']).toBe(id);
    for (const { 'lateness-ms': latenessMs } of pops) {
      expect(latenessMs).toBeGreaterThanOrEqual(0);
      expect(latenessMs).toBeLessThan(lateMsMax);
    }
    console.log(
      `lateness of single pops: ${pops.map((pop) => `${String(pop['lateness-ms'])} ms`).join(', ')}`,
    );
  });

  test('30,000 confirmed timers survive kill -9, and every one pops once', {
    timeout: 400_000,
  }, async () => {
    const total = 30_000;
    const batch = 3000;
    const { receiver, uri } = await openReceiver();
    const beginMs = performance.now();
    const first = await member();
    const startMs = performance.now();
    // Setting them takes less than a second on a quiet machine, and no longer than a start on any.
    const dueInMs = Math.max(8000, 12 * (startMs - beginMs));
    const confirmed: string[] = [];
    for (let from = 0; from < total; from += batch) {
      const timers = Array.from({ length: batch }, (_, i) => ({
        timing: { interval: dueInMs / 1000 },
        callback: { http: { uri, opaque: String(from + i) } },
      }));
      const body = JSON.stringify(timers);
      const answer = await fetch(`${first.url}/timers/batch`, { method: 'POST', body });
      const outcomes = (await answer.json()) as { status: number }[];
      for (const [i, { status }] of outcomes.entries()) {
        if (status === 200) confirmed.push(String(from + i));
      }
    }
    // A disk that is slow for a moment may cost a confirmation; it must not cost many.
    expect(confirmed.length).toBeGreaterThan(total * 0.9);
    const setMs = performance.now() - startMs;
    // Otherwise some would have popped before the kill and the counts below would mean nothing.
    expect(setMs).toBeLessThan(dueInMs);
    expect((await first.process.kill('SIGKILL')).signal).toBe('SIGKILL');

    const restartMs = performance.now();
    const second = await member();
    const servingMs = performance.now() - restartMs;
    const kept = await metric(second, /^carillon_timers\{.*pending/);
    expect(kept).toBeGreaterThanOrEqual(confirmed.length);
    await receiver.received(kept);
    const popped = new Set(receiver.callbacks.map(({ opaque }) => opaque));
    expect(confirmed.filter((opaque) => !popped.has(opaque))).toEqual([]);
    expect(receiver.callbacks).toHaveLength(popped.size);
    expect(
      Math.min(...receiver.callbacks.map(({ latenessMs }) => latenessMs)),
    ).toBeGreaterThanOrEqual(0);
    const at = (share: number): string => `${latenessAt(receiver.callbacks, share)} ms`;
    console.log(
      `${confirmed.length} confirmed in ${Math.round(setMs)} ms, serving again after ${Math.round(servingMs)} ms, ` +
        `lateness p50 ${at(0.5)}, p99 ${at(0.99)}`,
    );
  });

  test('a receiver that comes back gets every timer that is set from then on: none is given up untried', async () => {
    const away = new Receiver();
    const uri = await away.listen();
    away.close();
    const one = await member();
    const client = clientOf(one);
    const retry = { maxAttempts: 3, base: '300ms' };
    const specs = (count: number, opaque: string) =>
      Array.from({ length: count }, () => ({ in: '50ms', uri, opaque, retry }));
    await client.setMany(specs(60, 'before'));
    // The pops that were tried have failed by now, and the circuit is open.
    await expect.poll(() => metric(one, /^carillon_.*breakers?_open/), { timeout: 20_000 }).toBe(1);
    const receiver = new Receiver();
    receivers.push(receiver);
    await receiver.listen(Number(new URL(uri).port));
    await client.setMany(specs(50, 'after'));
    const after = () => receiver.callbacks.filter(({ opaque }) => opaque === 'after').length;
    await expect.poll(after, { timeout: 60_000 }).toBe(50);
    for await (const letter of client.deadLetters.list()) expect(letter.opaque).toBe('before');
  });

  test('SIGTERM lets a callback finish, exits 0, and nothing is sent twice after the restart', async () => {
    const { receiver, uri } = await openReceiver();
    receiver.answerMs = 400;
    const first = await member();
    await clientOf(first).set({ in: 100, uri, opaque: 'in flight' });
    await clientOf(first).set({ in: '1h', uri, opaque: 'much later' });
    await receiver.received(1);
    expect(await first.process.kill('SIGTERM')).toEqual({ code: 0, signal: null });

    const second = await member();
    receiver.answerMs = 0;
    await clientOf(second).set({ in: 0, uri, opaque: 'afterwards' });
    await receiver.received(2);
    expect(receiver.callbacks.map(({ opaque }) => opaque)).toEqual(['in flight', 'afterwards']);
    expect(await metric(second, /^carillon_timers\{.*pending/)).toBe(1);
  });

  test('a folder in use is refused by a second member in one sentence', async () => {
    await member();
    const second = new CliProcess([
      'serve',
      '--name',
      'one',
      '--data',
      folder,
      '--listen',
      '127.0.0.1:0',
    ]);
    started.push(second);
    expect((await second.ended).code).toBe(1);
    expect(second.errors).toHaveLength(1);
  });

  test('a broken invariant ends the process with a sentence, at once', async () => {
    const breaks = `process.on('SIGUSR2', () => { throw new Error('Broken invariant: one is two'); })`;
    const child = new CliProcess(
      ['serve', '--json', '--listen', '127.0.0.1:0', '--name', 'one', '--data', folder],
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(breaks)}` },
    );
    started.push(child);
    await child.line((line) => typeof line['url'] === 'string');
    expect(await child.kill('SIGUSR2')).toEqual({ code: 1, signal: null });
    expect(child.errors[0]).toBe('The member cannot go on: Broken invariant: one is two');
    expect(child.errors[1]).toMatch(/^A bug ended the member; its replicas take over\./);
  });
});
