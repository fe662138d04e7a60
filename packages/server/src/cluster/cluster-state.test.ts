import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import type { Peers } from '../replication/peers.ts';
import { protocol } from '../replication/wire/frame.ts';
import type { Hello } from '../replication/wire/hello.ts';
import { memberOf } from '../testing/quiet-members.ts';
import { helloOf } from '../testing/records.ts';
import { ClusterState } from './cluster-state.ts';
import type { Membership } from './membership.ts';
import { Presence } from './presence.ts';
import type { Repair } from './repair.ts';
import { type Phase, View } from './view/view.ts';

interface Scene {
  /** The last hellos of `b` and `c`; null: it was not heard. */
  readonly b?: Partial<Hello> | null;
  readonly c?: Partial<Hello> | null;
  readonly phaseOfB?: Phase;
  /** A name that is no longer in the view. */
  readonly vanished?: string;
  readonly silent?: string;
  /** Whether the source has told of a view. */
  readonly isKnown?: boolean;
  readonly isMoving?: boolean;
  readonly isStarted?: boolean;
}

/** The state that member `a` sees in a view of `a`, `b` and `c`, all of which go by this view unless told otherwise. */
function stateOf(scene: Scene) {
  const { b = {}, c = {}, phaseOfB = 'active', vanished, silent, isKnown = true } = scene;
  const members = [memberOf('a'), memberOf('b', phaseOfB), memberOf('c')];
  const gone = vanished === undefined ? [] : [memberOf(vanished)];
  const view = new View({ source: 'static', revision: 1, members, vanished: gone });
  const clock = new VirtualClock();
  const nothing = (): void => undefined;
  const presence = new Presence({
    clock,
    random: new SeededRandom(1),
    peers: { silent: (name: string) => name === silent } as Peers,
    others: () => ['b', 'c'],
    hello: () => helloOf(),
    absentMs: 30_000,
    onChange: nothing,
    onMet: nothing,
    onRestart: nothing,
    onReunited: nothing,
  });
  const usual = { protocolMax: protocol.max, viewId: view.id };
  for (const [name, hello] of Object.entries({ b, c }))
    if (hello !== null) presence.heard(name, helloOf({ ...usual, ...hello }));
  const repair = { presence, isMoving: scene.isMoving ?? false } as unknown as Repair;
  const state = new ClusterState({
    self: 'a',
    clock,
    membership: { view, isKnown } as Membership,
    repair: () => (scene.isStarted === false ? null : repair),
  });
  return { state, view, clock, presence };
}

test.each<[string, Scene, boolean]>([
  ['all speak this protocol', {}, true],
  ['one speaks a newer one too', { b: { protocolMax: protocol.max + 1 } }, true],
  ['one speaks only an older one', { b: { protocolMax: protocol.max - 1 } }, false],
  ['one was not heard', { c: null }, false],
  ['one that vanished was not heard', { vanished: 'd' }, false],
  ['the source has told of no view', { isKnown: false }, false],
  ['this one is not started yet', { isStarted: false }, false],
])('members of which %s: of one release is %s', (_, scene, expected) => {
  expect(stateOf(scene).state.isOfOneRelease).toBe(expected);
});

test('the protocol of a member that was not heard is 0', () => {
  const { state } = stateOf({ b: { protocolMax: 7 }, c: null });
  expect([state.protocolOf('b'), state.protocolOf('c')]).toEqual([7, 0]);
});

const another = { viewId: 'another' };

test.each<[string, Scene, boolean]>([
  ['all go by this view', {}, false],
  ['one goes by another view', { b: another }, true],
  ['one that is silent went by another view', { b: another, silent: 'b' }, false],
  ['this one is not started yet', { b: another, isStarted: false }, false],
])('members of which %s: views differ is %s', (_, scene, expected) => {
  expect(stateOf(scene).state.viewsDiffer).toBe(expected);
});

describe('records may be with other members than the view says', () => {
  test.each<[string, Scene, boolean]>([
    ['all members are at rest', {}, false],
    ['records of this member are on their way', { isMoving: true }, true],
    ['records of another one are', { b: { moving: true } }, true],
    ['records of a silent one were', { b: { moving: true }, silent: 'b' }, false],
    ['a member leaves', { phaseOfB: 'leaving' }, true],
    ['a member joins', { phaseOfB: 'joining' }, false],
    ['a member goes by another view', { b: another }, true],
    ['this member is not started yet', { isMoving: true, isStarted: false }, false],
  ])('while %s: %s', (_, scene, expected) => {
    expect(stateOf(scene).state.isUnsettled).toBe(expected);
  });

  test('for 5 s after a change of the view, however often the same view is told', async () => {
    const { state, view, clock } = stateOf({});
    state.noteView(view);
    expect(state.isUnsettled).toBe(true);
    await clock.advance(4900);
    state.noteView(view);
    expect(state.isUnsettled).toBe(true);
    await clock.advance(100);
    expect(state.isUnsettled).toBe(false);
    state.noteView(new View({ source: 'static', revision: 2, members: [memberOf('a')] }));
    expect(state.isUnsettled).toBe(true);
  });
});

test.each([
  [true, 250],
  [false, 0],
])('the wall clock is moved by the median of all clocks once started (%s)', (isStarted, ms) => {
  const { state, clock, presence } = stateOf({ isStarted });
  presence.medianOffsetMs = () => 250;
  expect(state.instant()).toEqual({ nowMs: clock.now(), wallMs: clock.wall() + ms });
});
