import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultConfig } from './config/config.ts';
import { bodyText, header, startOne, timerBody } from './testing/one-member.ts';

const minute = 60_000;

/** A body that lets its callbacks share a request. */
function batched(opaque: string, uri?: string) {
  const body = timerBody(10, { opaque, repeatFor: 10 });
  const http = { ...body.callback.http, batch: true, ...(uri !== undefined && { uri }) };
  return { ...body, callback: { ...body.callback, http } };
}

interface Line {
  id: string;
  sequence: number;
  attempt: number;
  due: string;
  version: string;
  opaque: string;
}

function linesOf(call: { request: Parameters<typeof bodyText>[0] }): Line[] {
  const lines = bodyText(call.request).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as Line);
}

describe('callbacks that may share a request', () => {
  it('come in one, with the values of their headers', async () => {
    const { request, clock, receivers } = await startOne();
    const ids: string[] = [];
    for (const opaque of ['a', '{"b":"\\n"}', 'ç']) {
      const set = await request('POST', '/timers', batched(opaque));
      ids.push((header(set, 'location') ?? '').slice('/timers/'.length));
    }
    await clock.advance(5 * minute);
    expect(receivers.calls).toHaveLength(1);
    const [call] = receivers.calls;
    expect(call?.request.method).toBe('POST');
    expect(call?.request.headers).toEqual({
      'content-type': 'application/x-ndjson',
      'x-timer-count': '3',
    });
    const lines = call === undefined ? [] : linesOf(call);
    lines.sort((one, two) => (one.id < two.id ? -1 : 1));
    expect(
      lines.map(({ id, opaque, sequence, attempt }) => [id, opaque, sequence, attempt]),
    ).toEqual([
      [ids[0], 'a', 1, 1],
      [ids[1], '{"b":"\\n"}', 1, 1],
      [ids[2], 'ç', 1, 1],
    ]);
    expect(lines[0]?.due).toMatch(/^\d{4}-/);
    expect(lines[0]?.version).toMatch(/^\d+\.\d+$/);
  });

  it('leave in requests of at most the configured count, each pop once', async () => {
    const callbacks = { ...defaultConfig.callbacks, batchCountMax: 4 };
    const { request, clock, receivers } = await startOne({
      config: { callbacks },
    });
    for (let i = 0; i < 10; i++) await request('POST', '/timers', batched(String(i)));
    await clock.advance(5 * minute);
    expect(receivers.calls.map((call) => linesOf(call).length)).toEqual([4, 4, 2]);
    const opaques = receivers.calls.flatMap((call) => linesOf(call).map(({ opaque }) => opaque));
    expect(opaques.toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => String(i)));
  });

  it('do not mix with callbacks of another uri, another namespace, or timers that did not ask for it', async () => {
    const { request, clock, receivers } = await startOne();
    await request('POST', '/timers', batched('one'));
    await request('POST', '/timers', batched('other uri', 'http://receiver/other'));
    await request('POST', '/timers', timerBody(10, { opaque: 'plain' }));
    await request('POST', '/timers', batched('elsewhere'), { 'carillon-namespace': 'b' });
    await clock.advance(5 * minute);
    const plain = receivers.calls.filter((call) => bodyText(call.request) === 'plain');
    expect(plain).toHaveLength(1);
    const others = receivers.calls.filter((call) => !plain.includes(call));
    const opaques = others.map((call) =>
      linesOf(call)
        .map(({ opaque }) => opaque)
        .join(' + '),
    );
    expect(opaques.toSorted()).toEqual(['elsewhere', 'one', 'other uri']);
  });

  it('are each tried again, alone, when the receiver refuses the batch, until they are delivered', async () => {
    const { request, clock, receivers } = await startOne();
    const delivered: string[] = [];
    receivers.script = (call) => {
      const lines = linesOf({ request: call });
      if (lines.some(({ opaque }) => opaque === 'bad')) return { afterMs: 5, answer: 500 };
      delivered.push(...lines.map(({ opaque }) => opaque));
      return { afterMs: 5, answer: 200 };
    };
    for (const opaque of ['good', 'bad', 'fine']) await request('POST', '/timers', batched(opaque));
    await clock.advance(5 * minute);
    expect(delivered.toSorted()).toEqual(['fine', 'good']);
    expect(receivers.calls.slice(1).every((call) => linesOf(call).length === 1)).toBe(true);
    const bad = receivers.calls.filter((call) => linesOf(call)[0]?.opaque === 'bad');
    expect(bad.length).toBeGreaterThan(1);
    expect(bad.map((call) => linesOf(call)[0]?.attempt)).toEqual(bad.map((_, i) => i + 2));
  });

  it('leave out a timer that was cancelled while the batch waited for its place', async () => {
    const callbacks = { ...defaultConfig.callbacks, inFlightPerDestinationMax: 1 };
    const { request, clock, receivers } = await startOne({ config: { callbacks } });
    receivers.script = () => ({ afterMs: 5_000, answer: 200 });
    await request('POST', '/timers', timerBody(9, { opaque: 'blocks' }));
    await request('POST', '/timers', batched('stays'));
    const set = await request('POST', '/timers', batched('goes'));
    await clock.advance(11_000);
    await request('DELETE', header(set, 'location') ?? '');
    await clock.advance(5 * minute);
    const lines = receivers.calls.slice(1).flatMap((call) => linesOf(call));
    expect(lines.map(({ opaque }) => opaque)).toEqual(['stays']);
  });

  it('are signed as a whole, with the secrets of their namespace or else the common ones', async () => {
    const bytes = { all: Buffer.alloc(32, 1), own: Buffer.alloc(32, 2) };
    const secret = (key: Buffer): string => `whsec_${key.toString('base64')}`;
    const signingSecrets = [secret(bytes.all), `b=${secret(bytes.own)}`];
    const callbacks = { ...defaultConfig.callbacks, signingSecrets };
    const { request, clock, receivers } = await startOne({ config: { callbacks } });
    await request('POST', '/timers', batched('one'));
    await request('POST', '/timers', batched('two'), { 'carillon-namespace': 'b' });
    await request('POST', '/timers', timerBody(10), { 'carillon-namespace': 'b' });
    await clock.advance(minute);
    const keys: Buffer[] = [bytes.all, bytes.own, bytes.own];
    expect(receivers.calls).toHaveLength(3);
    for (const call of receivers.calls) {
      const { headers, body } = call.request;
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
      const both: Buffer[] = [bytes.all, bytes.own];
      const valid = both.filter(
        (key) =>
          headers['webhook-signature'] ===
          `v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`,
      );
      expect(valid).toHaveLength(1);
      keys.splice(keys.indexOf(valid[0] as Buffer), 1);
    }
    expect(keys).toEqual([]);
  });

  it.each([
    ['another method', { method: 'PUT' }, '/callback/http/method'],
    ['headers of their own', { headers: { a: 'b' } }, '/callback/http/headers'],
  ])('cannot have %s', async (_, more, pointer) => {
    const { request } = await startOne();
    const body = batched('x');
    const http = { ...body.callback.http, ...more };
    const refused = await request('POST', '/timers', { ...body, callback: { http } });
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.body)).toMatchObject({ pointer });
  });
});
