import { randomBytes } from 'node:crypto';
import { VirtualClock } from '@carillon/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiRequest } from '../http/message.ts';
import { testToken } from '../testing/tokens.ts';
import { Access, type Caller, type AccessRefusal } from './access.ts';
import { newToken, tokenDigest, tokenIdOf, tokenLength } from './token.ts';

const reader = testToken(1, { scope: 'read', namespace: 'team-a', name: 'reader' });
const writer = testToken(2, { scope: 'write', namespace: 'team-a' });
const admin = testToken(3, { scope: 'admin', namespace: '*' });

function accessOf(...tokens: (typeof reader)[]) {
  const clock = new VirtualClock();
  const access = new Access({ clock });
  access.use(tokens.map(({ token }) => token));
  return { access, clock };
}

function request(headers: ApiRequest['headers'] = {}): ApiRequest {
  return { method: 'GET', path: '/timers', query: '', headers, body: new Uint8Array(0) };
}

function refused(
  answer: Caller | AccessRefusal,
): [status: number, detail: string, ...headers: string[]] {
  if (!('error' in answer)) throw new Error('It was let in.');
  return [answer.error.status, answer.error.message, ...answer.headers];
}

describe('tokens', () => {
  test('have the form they are made in, and differ', () => {
    const made = Array.from({ length: 100 }, () => newToken(randomBytes));
    for (const { id, text } of made) expect(tokenIdOf(text)).toBe(id);
    expect(new Set(made.map(({ text }) => text)).size).toBe(100);
    expect(made[0]?.text).toHaveLength(tokenLength);
    expect(tokenDigest(made[0]?.text ?? '')).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each(['', 'carillon', `carillon_${'0'.repeat(12)}_`, `${reader.text}x`, ` ${reader.text}`])(
    '%j is none',
    (text) => {
      expect(tokenIdOf(text)).toBeNull();
    },
  );
});

describe('without tokens', () => {
  test('every caller may do everything, in the namespace it names', () => {
    const { access } = accessOf();
    expect(access.needsToken).toBe(false);
    expect(access.admit(request(), { needs: 'admin' })).toMatchObject({
      auth: false,
      namespace: 'default',
    });
    const named = request({ 'carillon-namespace': 'team-b' });
    expect(access.admit(named, { needs: 'write' })).toMatchObject({
      namespace: 'team-b',
      bound: '*',
    });
  });

  test.each(['', 'A', 'a b', '*', '-a', 'a'.repeat(65), 'ä', '__proto__', 'a, b'])(
    'the namespace %j is refused',
    (name) => {
      const { access } = accessOf();
      const answer = access.admit(request({ 'carillon-namespace': name }), { needs: 'read' });
      expect(refused(answer)[0]).toBe(400);
    },
  );
});

describe('with tokens', () => {
  test('a token has a name, a scope and a namespace', () => {
    const { access } = accessOf(reader, writer, admin);
    expect(access.admit(request(reader.headers), { needs: 'read' })).toMatchObject({
      auth: true,
      scope: 'read',
      name: 'reader',
      bound: 'team-a',
      namespace: 'team-a',
    });
  });

  test.each([
    ['none', {}],
    ['another scheme', { authorization: `Basic ${admin.text}` }],
    ['nothing behind the scheme', { authorization: 'Bearer ' }],
    ['one that is not in the file', testToken(9).headers],
    ['a known id with another secret', { authorization: `Bearer ${admin.text.slice(0, -1)}_` }],
    ['one more character', { authorization: `Bearer ${admin.text}A` }],
    ['two at once', { authorization: [`Bearer ${admin.text}`, `Bearer ${reader.text}`] }],
    ['a very long one', { authorization: `Bearer ${'a'.repeat(16_000)}` }],
    ['bytes that are no token', { authorization: 'Bearer \u0000ÿ"\\' }],
  ])('%s is refused with a challenge and without repeating it', (_, headers) => {
    const { access } = accessOf(reader, admin);
    const [status, ...rest] = refused(access.admit(request(headers), { needs: 'read' }));
    expect(status).toBe(401);
    expect(rest[1]).toBe('www-authenticate');
    expect(rest[2]).toMatch(/^Bearer realm="carillon"/);
    expect(JSON.stringify(rest)).not.toContain(admin.text.slice(9));
    expect(access.refuse(request(headers), { needs: 'read' })?.error.status).toBe(401);
  });

  test.each(['Bearer ', 'bearer ', 'BEARER   '])('%j may stand before the token', (scheme) => {
    const { access } = accessOf(admin);
    const headers = { authorization: scheme + admin.text };
    expect(access.admit(request(headers), { needs: 'admin' })).toMatchObject({ auth: true });
  });

  test('nothing but a token gets in, for any value of the header', () => {
    const { access } = accessOf(admin);
    const digest = tokenDigest(admin.text);
    const near = fc
      .tuple(fc.nat({ max: tokenLength - 1 }), fc.string({ minLength: 1, maxLength: 1 }))
      .map(([at, other]) => admin.text.slice(0, at) + other + admin.text.slice(at + 1));
    const texts = fc.oneof(fc.string(), near, fc.constantFrom(digest, '', admin.token.id));
    fc.assert(
      fc.property(fc.constantFrom('Bearer ', 'Basic ', ''), texts, (scheme, text) => {
        fc.pre(text !== admin.text);
        const headers = { authorization: scheme + text };
        const answer = access.admit(request(headers), { needs: 'read' });
        expect('error' in answer && answer.error.status).toBeOneOf([401, 429]);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['read', reader, { read: true, write: false, admin: false }],
    ['write', writer, { read: true, write: true, admin: false }],
    ['admin', admin, { read: true, write: true, admin: true }],
  ] as const)('the scope %s allows itself and less', (has, { headers }, may) => {
    const { access } = accessOf(reader, writer, admin);
    for (const needs of ['read', 'write', 'admin'] as const) {
      const answer = access.admit(request(headers), { needs });
      expect('error' in answer).toBe(!may[needs]);
      expect(access.refuse(request(headers), { needs }) === null).toBe(may[needs]);
      if (may[needs]) continue;
      const [status, detail, , challenge] = refused(answer);
      expect(status).toBe(403);
      expect(detail).toContain(`scope "${needs}"`);
      expect(detail).toContain(`"${has}"`);
      expect(challenge).toContain(`error="insufficient_scope", scope="${needs}"`);
    }
  });

  test('a token of one namespace gets into no other, one of all into any', () => {
    const { access } = accessOf(writer, admin);
    const into = (headers: object, name: string) =>
      access.admit(request({ ...headers, 'carillon-namespace': name }), { needs: 'read' });
    expect(into(writer.headers, 'team-a')).toMatchObject({ namespace: 'team-a' });
    expect(refused(into(writer.headers, 'team-b'))).toEqual([
      403,
      'This token is for the namespace "team-a" only.',
    ]);
    expect(into(admin.headers, 'team-b')).toMatchObject({ namespace: 'team-b', bound: '*' });
    expect(access.admit(request(admin.headers), { needs: 'read' })).toMatchObject({
      namespace: 'default',
    });
  });

  test('a route that concerns all namespaces needs a token for all of them', () => {
    const local = testToken(7, { scope: 'admin', namespace: 'team-a' });
    const { access } = accessOf(local, admin);
    const demand = { needs: 'admin', whole: true } as const;
    expect(access.admit(request(admin.headers), demand)).toMatchObject({ auth: true });
    expect(refused(access.admit(request(local.headers), demand))).toEqual([
      403,
      'This concerns all namespaces, and this token is for the namespace "team-a" only.',
    ]);
    expect(access.refuse(request(local.headers), demand)?.error.status).toBe(403);
    expect(accessOf().access.admit(request(), demand)).toMatchObject({ auth: false });
  });

  test('a token that ends is good until then', async () => {
    const clock = new VirtualClock();
    const until = new Date(clock.wall() + 60_000).toISOString();
    const brief = testToken(4, { until });
    const access = new Access({ clock });
    access.use([brief.token]);
    await clock.advance(59_999);
    expect(access.admit(request(brief.headers), { needs: 'admin' })).toMatchObject({ auth: true });
    await clock.advance(1);
    const [status, detail] = refused(access.admit(request(brief.headers), { needs: 'admin' }));
    expect([status, detail]).toEqual([401, `This token was valid until ${until}.`]);
  });

  test('two tokens of one name are good at once, and each can be revoked alone', () => {
    const old = testToken(5, { name: 'billing' });
    const next = testToken(6, { name: 'billing' });
    const { access } = accessOf(old, next);
    for (const { headers } of [old, next]) {
      expect(access.admit(request(headers), { needs: 'write' })).toMatchObject({ name: 'billing' });
    }
    access.use([next.token]);
    expect(refused(access.admit(request(old.headers), { needs: 'write' }))[0]).toBe(401);
    expect(access.admit(request(next.headers), { needs: 'write' })).toMatchObject({
      name: 'billing',
    });
  });

  test('an accepted token is known until it ends or is revoked', async () => {
    const clock = new VirtualClock();
    const until = new Date(clock.wall() + 1000).toISOString();
    const brief = testToken(8, { until });
    const access = new Access({ clock });
    const anybody = access.admit(request(), { needs: 'read' }) as Caller;
    expect(access.knows(anybody)).toBe(true);
    access.use([brief.token, writer.token]);
    expect(access.knows(anybody)).toBe(false);
    const [short, long] = [brief, writer].map(
      ({ headers }) => access.admit(request(headers), { needs: 'read' }) as Caller,
    ) as [Caller, Caller];
    expect([access.knows(short), access.knows(long)]).toEqual([true, true]);
    await clock.advance(1000);
    expect([access.knows(short), access.knows(long)]).toEqual([false, true]);
    access.use([brief.token]);
    expect(access.knows(long)).toBe(false);
  });

  test('no request gets in any more once all tokens are revoked', () => {
    const { access } = accessOf(admin);
    access.use([]);
    expect(access.needsToken).toBe(true);
    expect(refused(access.admit(request(), { needs: 'read' }))[0]).toBe(401);
    expect(refused(access.admit(request(admin.headers), { needs: 'read' }))[0]).toBe(401);
  });
});

describe('wrong tokens', () => {
  const from = (remote: string, headers: ApiRequest['headers']) => ({
    ...request(headers),
    remote,
  });
  const wrong = testToken(9).headers;

  test('of one address are soon 429, and one more is looked at each second', async () => {
    const { access, clock } = accessOf(admin);
    const guess = () => access.admit(from('192.0.2.1', wrong), { needs: 'read' });
    const statuses = Array.from({ length: 50 }, () => refused(guess())[0]);
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(30).fill(429)]);
    expect(refused(guess())).toEqual([
      429,
      'Too many wrong tokens from this address: the next one may come in 1 s.',
      'retry-after',
      '1',
    ]);
    await clock.advance(1000);
    expect([guess(), guess()].map((answer) => refused(answer)[0])).toEqual([401, 429]);
  });

  test('count before a body is read as after it, and once each', () => {
    const { access } = accessOf(admin);
    const asked = from('192.0.2.1', wrong);
    const early = () => access.refuse(asked, { needs: 'read' })?.error.status;
    for (let i = 0; i < 20; i++) expect(early()).toBe(401);
    expect(early()).toBe(429);
    expect(refused(access.admit(asked, { needs: 'read' }))[0]).toBe(429);
  });

  test('of an address keep no right token out, neither from it nor from elsewhere', async () => {
    const { access } = accessOf(admin);
    for (let i = 0; i < 100; i++) {
      access.admit(from('192.0.2.1', wrong), { needs: 'read' });
      const right = from('192.0.2.1', admin.headers);
      expect(access.refuse(right, { needs: 'admin' })).toBeNull();
      expect(access.admit(right, { needs: 'admin' })).toMatchObject({ auth: true });
    }
    const status = (asked: ApiRequest) => refused(access.admit(asked, { needs: 'read' }))[0];
    expect(status(from('192.0.2.1', wrong))).toBe(429);
    expect(status(from('192.0.2.2', wrong))).toBe(401);
    expect(status(from('192.0.2.1', {}))).toBe(401);
  });

  test('tokens that have ended count as well, right ones do not', async () => {
    const clock = new VirtualClock();
    const brief = testToken(4, { until: new Date(clock.wall() + 1000).toISOString() });
    const access = new Access({ clock });
    access.use([brief.token]);
    const ask = () => access.admit(from('192.0.2.1', brief.headers), { needs: 'read' });
    for (let i = 0; i < 100; i++) expect(ask()).toMatchObject({ auth: true });
    await clock.advance(1000);
    const statuses = Array.from({ length: 21 }, () => refused(ask())[0]);
    expect(statuses).toEqual([...Array(20).fill(401), 429]);
  });
});

describe('with a rate', () => {
  const rate = { perSecond: 2, burst: 3 };

  test('each token has its own, and the refusal says when to come back', async () => {
    const clock = new VirtualClock();
    const access = new Access({ clock, rate });
    access.use([reader.token, writer.token]);
    const ask = ({ headers }: typeof reader) => access.admit(request(headers), { needs: 'read' });
    for (let i = 0; i < 3; i++) expect(ask(reader)).toMatchObject({ auth: true });
    expect(refused(ask(reader)).slice(0, 1)).toEqual([429]);
    expect(refused(ask(reader)).slice(2)).toEqual(['retry-after', '1']);
    expect(ask(writer)).toMatchObject({ auth: true });
    await clock.advance(500);
    expect(ask(reader)).toMatchObject({ auth: true });
    expect(refused(ask(reader))[0]).toBe(429);
  });

  test('without tokens each address has its own', () => {
    const access = new Access({ clock: new VirtualClock(), rate: { perSecond: 1, burst: 1 } });
    const from = (remote: string) => access.admit({ ...request(), remote }, { needs: 'write' });
    expect(from('10.0.0.1')).toMatchObject({ auth: false });
    expect(refused(from('10.0.0.1'))[0]).toBe(429);
    expect(refused(from('::ffff:10.0.0.1'))[0]).toBe(429);
    expect(from('10.0.0.2')).toMatchObject({ auth: false });
    expect(from('2001:db8::1')).toMatchObject({ auth: false });
    expect(refused(from('2001:db8::ffff:1'))[0]).toBe(429);
    expect(from('2001:db8:0:1::1')).toMatchObject({ auth: false });
  });

  test('a batch is paid for by its timers, afterwards', async () => {
    const clock = new VirtualClock();
    const access = new Access({ clock, rate });
    access.use([writer.token]);
    const ask = () => access.admit(request(writer.headers), { needs: 'write' });
    access.charge(ask() as Caller, 9);
    expect(refused(ask()).slice(2)).toEqual(['retry-after', '4']);
    await clock.advance(3999);
    expect(refused(ask())[0]).toBe(429);
    await clock.advance(1);
    expect(ask()).toMatchObject({ auth: true });
  });
});
