import { State } from '@carillon/core';
import { expect, it } from 'vitest';
import { recordOf } from '../../testing/records.ts';
import { askedAtMs, type ClaimAsk, GrantedClaims, judgeClaim, serialAfter } from './claims.ts';

const nowMs = 1000;
const stored = recordOf({ sequence: 3, replicas: ['a', 'b', 'x'] });
const nothing = { claim: undefined, own: null, from: 'a', rank: 1 };

function ask(fields: Partial<ClaimAsk> = {}): ClaimAsk {
  const usual = { termMs: 500, position: 0, calling: false, serial: 1, dueMs: stored.retryMs };
  return { type: 'claim', standing: stored, ...usual, ...fields };
}

/** Granted for the stored state, to some pop. */
const held = { serial: 1, givenBack: false, progress: stored };

it('knows nothing of a record it does not hold', () => {
  expect(judgeClaim(undefined, ask(), nothing, nowMs)).toEqual({ type: 'unknown' });
});

it('answers a claim for an older state with its own record', () => {
  for (const newer of [
    { ...stored, sequence: 4 },
    { ...stored, attempt: 1 },
    { ...stored, state: State.tombstone },
    { ...stored, versionMs: stored.versionMs + 1, sequence: 0 },
  ]) {
    expect(judgeClaim(newer, ask(), nothing, nowMs)).toEqual({ type: 'ahead' });
  }
});

it('lets a claimant that knows more go on, remembers that, and gives up its own attempt', () => {
  const standing = { ...stored, sequence: 4 };
  const own = { by: 'self', calling: false, position: 0, untilMs: 2000 };
  expect(judgeClaim(stored, ask({ standing, position: 1 }), { ...nothing, own }, nowMs)).toEqual({
    type: 'granted',
    remember: true,
    yields: true,
  });
});

it('lets no claimant go on, however much it knows, with a pop that the call of this member stands for', () => {
  const own = { by: 'self', calling: true, position: 1, untilMs: 2000 };
  for (const newer of [{ sequence: 4 }, { attempt: 1 }]) {
    const standing = { ...stored, ...newer };
    const judgement = judgeClaim(stored, ask({ standing }), { ...nothing, own }, nowMs);
    expect(judgement).toEqual({ type: 'claimed', leftMs: 1000 });
  }
});

it('a claim for a state yet to come holds against claims for that state and older ones, not against claims for newer ones', () => {
  const claims = new GrantedClaims();
  const [coming, further] = [4, 5].map((sequence) => ({ ...stored, sequence }));
  if (coming === undefined || further === undefined) throw new Error('There are two.');
  claims.grant(7, 'x', ask({ standing: coming, calling: true }), nowMs);
  const known = { ...nothing, claim: claims.get(7) };
  const type = (standing: ClaimAsk['standing']) =>
    judgeClaim(stored, ask({ standing }), known, nowMs).type;
  expect([stored, coming, further].map(type)).toEqual(['claimed', 'claimed', 'granted']);
});

it('a claim for a state yet to come is still there when that state comes', () => {
  const claims = new GrantedClaims();
  claims.grant(7, 'a', ask({ standing: { ...stored, sequence: 4 } }), nowMs);
  claims.changed(7, { ...stored, attempt: 1 });
  claims.changed(7, { ...stored, sequence: 4 });
  expect(claims.get(7)?.by).toBe('a');
  claims.changed(7, { ...stored, sequence: 4, attempt: 1 });
  expect(claims.get(7)).toBeUndefined();
});

it('grants a first claim and remembers it', () => {
  expect(judgeClaim(stored, ask(), nothing, nowMs)).toEqual({
    type: 'granted',
    remember: true,
    yields: false,
  });
});

it.each([
  {
    own: { by: 'self', calling: false, position: 1, untilMs: 2000 },
    position: 0,
    calling: false,
    type: 'granted',
  },
  {
    own: { by: 'self', calling: false, position: 0, untilMs: 2000 },
    position: 1,
    calling: false,
    type: 'claimed',
  },
  {
    own: { by: 'self', calling: true, position: 1, untilMs: 2000 },
    position: 0,
    calling: false,
    type: 'claimed',
  },
  {
    own: { by: 'self', calling: false, position: 0, untilMs: 2000 },
    position: 1,
    calling: true,
    type: 'granted',
  },
  // Its own claim has run out while it waited for a free place: another replica may go on.
  {
    own: { by: 'self', calling: false, position: 0, untilMs: 900 },
    position: 1,
    calling: false,
    type: 'granted',
  },
])(
  'of two replicas that want the same pop the earlier goes on, unless the other calls already: %j',
  (row) => {
    const { own, position, calling, type } = row;
    expect(judgeClaim(stored, ask({ position, calling }), { ...nothing, own }, nowMs).type).toBe(
      type,
    );
  },
);

it.each([
  { claim: { by: 'a', position: 1, calling: false, untilMs: 1500 }, position: 1, type: 'granted' },
  { claim: { by: 'x', position: 1, calling: false, untilMs: 1500 }, position: 2, type: 'claimed' },
  { claim: { by: 'x', position: 1, calling: false, untilMs: 999 }, position: 2, type: 'granted' },
  { claim: { by: 'x', position: 1, calling: false, untilMs: 1500 }, position: 0, type: 'granted' },
  { claim: { by: 'x', position: 1, calling: true, untilMs: 1500 }, position: 0, type: 'claimed' },
])('a claim holds against others until its end: %j', ({ claim: granted, position, type }) => {
  const claim = { ...granted, ...held };
  expect(judgeClaim(stored, ask({ position }), { ...nothing, claim }, nowMs).type).toBe(type);
});

it('of two that have the same position the name decides, at themselves and at every other member', () => {
  const own = (by: string) => ({ by, calling: false, position: 0, untilMs: 2000 });
  const at = (self: string, from: string) =>
    judgeClaim(stored, ask({ position: 0 }), { ...nothing, own: own(self), from }, nowMs);
  expect([at('a', 'b').type, at('b', 'a').type]).toEqual(['claimed', 'granted']);
  const third = (holder: string, from: string) =>
    judgeClaim(
      stored,
      ask({ position: 0 }),
      { ...nothing, claim: { ...own(holder), ...held }, from },
      nowMs,
    );
  expect([third('a', 'b').type, third('b', 'a').type]).toEqual(['claimed', 'granted']);
});

it.each([
  { claim: 'whose claimant is not listed', replicas: ['a', 'self'] },
  { claim: 'whose asker is not listed', replicas: ['x', 'self'] },
])(
  'a claim $claim is given to no second asker: the two may not know each other',
  ({ replicas }) => {
    const here = { ...stored, replicas };
    for (const position of [0, 1]) {
      const claim = { by: 'x', position: 1, calling: false, untilMs: 1500, ...held };
      const known = { ...nothing, claim };
      expect(judgeClaim(here, ask({ position }), known, nowMs).type).toBe('claimed');
      // The claim runs out for all askers, and a call that is under way is a fact.
      expect(judgeClaim(here, ask({ position }), known, 1500).type).toBe('granted');
      expect(judgeClaim(here, ask({ position, calling: true }), known, nowMs).type).toBe('granted');
    }
  },
);

it('says how long a claim still holds', () => {
  const claim = { by: 'x', position: 0, calling: false, untilMs: 1300, ...held };
  expect(judgeClaim(stored, ask({ position: 1 }), { ...nothing, claim }, nowMs)).toEqual({
    type: 'claimed',
    leftMs: 300,
  });
});

it('never trusts a peer with a claim longer than the longest term', () => {
  const claims = new GrantedClaims();
  expect(claims.grant(7, 'a', ask({ termMs: 1e12 }), nowMs).untilMs).toBe(4000);
});

it.each([0, -1, Number.NaN])('a claim with a term of %d gives back the asker’s own', (termMs) => {
  const claims = new GrantedClaims();
  claims.grant(7, 'a', ask(), nowMs);
  const back = ask({ termMs });
  const known = { ...nothing, claim: claims.get(7) };
  expect(judgeClaim(stored, back, known, nowMs)).toMatchObject({ remember: true, yields: false });
  expect(claims.grant(7, 'a', back, nowMs).untilMs).toBe(nowMs);
  const next = { ...nothing, claim: claims.get(7), from: 'x' };
  expect(judgeClaim(stored, ask({ position: 2 }), next, nowMs).type).toBe('granted');
});

it('a give-back takes nothing from another member: neither a claim nor a pop under way, even if its sender knows more', () => {
  const claim = { by: 'x', position: 1, calling: false, untilMs: 1500, ...held };
  const own = { by: 'self', calling: false, position: 1, untilMs: 2000 };
  const further = { ...stored, sequence: stored.sequence + 1 };
  const known = [nothing, { ...nothing, claim }, { ...nothing, own }];
  for (const standing of [stored, further]) {
    for (const each of known) {
      expect(judgeClaim(stored, ask({ standing, termMs: 0 }), each, nowMs)).toEqual({
        type: 'granted',
        remember: false,
        yields: false,
      });
    }
  }
  const before = { ...nothing, claim: { ...claim, by: 'a' } };
  expect(judgeClaim(further, ask({ termMs: 0 }), before, nowMs)).toMatchObject({ remember: false });
});

it('a give-back that comes late or twice ends no claim of a later pop', () => {
  const claims = new GrantedClaims();
  claims.grant(7, 'a', ask({ serial: 5 }), nowMs);
  const late = ask({ serial: 4, termMs: 0 });
  const known = { ...nothing, claim: claims.get(7) };
  expect(judgeClaim(stored, late, known, nowMs)).toMatchObject({ remember: false });
  const own = ask({ serial: 5, termMs: 0 });
  expect(judgeClaim(stored, own, known, nowMs)).toMatchObject({ remember: true });
});

it('a claim that comes behind its own give-back is over; one of the next pop is not', () => {
  const claims = new GrantedClaims();
  claims.grant(7, 'a', ask({ serial: 5 }), nowMs);
  claims.grant(7, 'a', ask({ serial: 5, termMs: 0 }), nowMs);
  const known = { ...nothing, claim: claims.get(7) };
  expect(judgeClaim(stored, ask({ serial: 5 }), known, nowMs)).toMatchObject({ remember: false });
  expect(judgeClaim(stored, ask({ serial: 6 }), known, nowMs)).toMatchObject({ remember: true });
});

it.each([
  { claimed: 0, back: 0 },
  { claimed: 0, back: 5 },
  { claimed: 5, back: 0 },
])(
  'without serials a give-back ends any claim of its sender, and the next claim counts: %j',
  (row) => {
    const claims = new GrantedClaims();
    claims.grant(7, 'a', ask({ serial: row.claimed }), nowMs);
    const back = ask({ serial: row.back, termMs: 0 });
    const known = { ...nothing, claim: claims.get(7) };
    expect(judgeClaim(stored, back, known, nowMs)).toMatchObject({ remember: true });
    claims.grant(7, 'a', back, nowMs);
    const again = { ...known, claim: claims.get(7) };
    expect(judgeClaim(stored, ask({ serial: 0 }), again, nowMs)).toMatchObject({ remember: true });
  },
);

it('serials of pops differ, and none is that of a claimant without them', () => {
  const serials = [2 ** 32 - 2];
  for (let i = 0; i < 4; i++) serials.push(serialAfter(serials.at(-1) as number));
  expect(serials).toEqual([2 ** 32 - 2, 2 ** 32 - 1, 1, 2, 3]);
});

it('a claim outlives a new list of replicas, and ends when the timer moves on', () => {
  const claims = new GrantedClaims();
  claims.grant(7, 'a', ask({}), nowMs);
  claims.changed(7, { ...stored, replicas: ['x', 'y'] });
  expect(claims.get(7)?.by).toBe('a');
  claims.changed(7, { ...stored, sequence: stored.sequence + 1 });
  expect(claims.get(7)).toBeUndefined();
});

it.each([
  { claim: 'that came at once', layMs: 0, fields: {}, askedMs: nowMs },
  { claim: 'that lay in a socket', layMs: 110, fields: {}, askedMs: nowMs - 110 },
  {
    claim: 'of a claimant that takes the pop to be due earlier',
    layMs: -50,
    fields: {},
    askedMs: nowMs,
  },
  { claim: 'of a release that does not say', layMs: Infinity, fields: {}, askedMs: nowMs },
  { claim: 'that renews one for a call', layMs: 110, fields: { calling: true }, askedMs: nowMs },
  {
    claim: 'for a state yet to come',
    layMs: 110,
    fields: { standing: { ...stored, sequence: 4 } },
    askedMs: nowMs,
  },
])('a claim $claim was asked for at $askedMs', ({ layMs, fields, askedMs }) => {
  const asked = ask({ dueMs: stored.retryMs + layMs, ...fields });
  expect(askedAtMs(stored, asked, nowMs)).toBe(askedMs);
});

it('a claim that lay for longer than its term is over when it is read', () => {
  const claims = new GrantedClaims();
  claims.grant(7, 'a', ask({ termMs: 100 }), nowMs - 110);
  const known = { ...nothing, claim: claims.get(7), from: 'x' };
  expect(judgeClaim(stored, ask({ position: 2 }), known, nowMs).type).toBe('granted');
});

it('a claimant that slept over the pop holds back an awake member once, until it calls or gives back; an awake claimant, or any claimant at a member that slept, does so as often as it asks', () => {
  const claims = new GrantedClaims();
  const slept = ask({ position: 4 });
  claims.grant(7, 'a', slept, nowMs);
  const known = { ...nothing, claim: claims.get(7) };
  const remembers = (each: ClaimAsk, fields = {}, atMs = nowMs + 100) =>
    judgeClaim(stored, each, { ...known, ...fields }, atMs);
  for (const atMs of [nowMs + 100, nowMs + 5000]) {
    expect(remembers(slept, {}, atMs)).toEqual({ type: 'granted', remember: false, yields: false });
  }
  expect(remembers({ ...slept, calling: true })).toMatchObject({ remember: true });
  expect(remembers(ask({ position: 3 }))).toMatchObject({ remember: true });
  expect(remembers(slept, { rank: 5 })).toMatchObject({ remember: true });
  expect(remembers(slept, { from: 'b' }, nowMs + 5000)).toMatchObject({ remember: true });
  const retried = ask({ position: 4, standing: { ...stored, attempt: 1 } });
  expect(remembers(retried)).toMatchObject({ remember: true });
  claims.grant(7, 'a', ask({ position: 4, termMs: 0 }), nowMs);
  const later = ask({ position: 4, serial: 2 });
  expect(remembers(later, { claim: claims.get(7) })).toMatchObject({ remember: true });
});
