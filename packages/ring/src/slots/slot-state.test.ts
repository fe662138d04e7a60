import { describe, expect, test } from 'vitest';
import { type SlotHappening, type SlotState, slotEffect, slotTransitions } from './slot-state.ts';

const states = Object.keys(slotTransitions) as SlotState[];
const happenings = Object.keys(slotTransitions.foreign) as SlotHappening[];
/** States in which this process may believe that it has the slot. */
const believing: SlotState[] = ['owned', 'draining', 'moving'];

describe('slot states', () => {
  test('the table is complete: 7 states by 10 happenings, all leading to a state', () => {
    expect(states).toHaveLength(7);
    expect(happenings).toHaveLength(10);
    for (const state of states) {
      expect(Object.keys(slotTransitions[state])).toEqual(happenings);
      for (const next of Object.values(slotTransitions[state])) expect(states).toContain(next);
    }
  });

  test('a slot becomes owned by seeing the own record alone, or by keeping one that was never released', () => {
    for (const from of states) {
      for (const happening of happenings) {
        if (from === 'owned' || slotTransitions[from][happening] !== 'owned') continue;
        const back =
          (from === 'draining' && happening === 'want') ||
          (from === 'moving' && (happening === 'passed' || happening === 'refused'));
        expect(happening === 'mine' || back, `${from} ${happening}`).toBe(true);
      }
    }
  });

  test('a process that believes to own a slot stops believing so when its member is lost or the record belongs to another', () => {
    for (const state of believing) {
      for (const happening of ['member-lost', 'theirs', 'gone'] as const) {
        expect(slotTransitions[state][happening]).toBe('lost');
      }
    }
  });

  test('a slot is released only from draining, and only when idle', () => {
    for (const from of states) {
      for (const happening of happenings) {
        if (from === 'releasing' || slotTransitions[from][happening] !== 'releasing') continue;
        expect(`${from} ${happening}`).toBe('draining idle');
      }
    }
  });

  test('a release under way is never called back: only the record decides', () => {
    expect(slotTransitions.releasing.want).toBe('releasing');
    expect(slotTransitions.releasing.gone).toBe('foreign');
  });

  test('seeing the own record again changes nothing for a slot on its way out', () => {
    expect(slotTransitions.draining.mine).toBe('draining');
    expect(slotTransitions.releasing.mine).toBe('releasing');
  });

  test('a claim under way is decided by its answer alone', () => {
    for (const happening of ['want', 'unwant', 'theirs', 'gone', 'idle'] as const) {
      expect(slotTransitions.claiming[happening]).toBe('claiming');
    }
    expect(slotTransitions.claiming.refused).toBe('foreign');
  });

  test('from every state there is a way to foreign', () => {
    for (const start of states) {
      const seen = new Set<SlotState>([start]);
      for (const state of seen)
        for (const next of Object.values(slotTransitions[state])) seen.add(next);
      expect(seen, start).toContain('foreign');
    }
  });

  test.each([
    ['foreign', 'claiming', 'claim'],
    ['claiming', 'owned', 'gain'],
    ['owned', 'draining', 'revoke'],
    ['draining', 'releasing', 'release'],
    ['draining', 'owned', 'gain'],
    ['releasing', 'foreign', 'released'],
    ['owned', 'lost', 'abort'],
    ['draining', 'lost', 'abort'],
    ['lost', 'foreign', 'none'],
    ['claiming', 'foreign', 'none'],
    ['owned', 'owned', 'none'],
  ] as const)('from %s to %s: %s', (from, to, effect) => {
    expect(slotEffect(from, to)).toBe(effect);
  });
});
