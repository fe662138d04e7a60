import { describe, expect, test } from 'vitest';
import { isOut, isUnderWay, type PopEvent, type PopPhase, popStep, popTable } from './pop-phase.ts';

const phases = Object.keys(popTable) as PopPhase[];
const events = Object.keys(popTable.claiming) as PopEvent[];
const cells = phases.flatMap((phase) =>
  events.map((event) => ({ phase, event, cell: popTable[phase][event] })),
);
const steps = cells.flatMap(({ phase, event, cell }) =>
  typeof cell === 'string' ? [] : [{ phase, event, next: cell[0], action: cell[1] }],
);
const named = (all: typeof steps) => all.map(({ phase, event }) => `${phase} ${event}`);

/** Messages and answers of others that may arrive at any time, also after the pop has ended. */
const fromOutside = ['unopposed', 'stalled', 'taken', 'ahead'] as const;

describe('phases of a pop', () => {
  test('the table is complete: 6 phases by 14 events, each with a next phase, or a sentence why it cannot be', () => {
    expect(cells).toHaveLength(84);
    for (const phase of phases) expect(Object.keys(popTable[phase])).toEqual(events);
    for (const { phase, event, cell } of cells) {
      if (typeof cell === 'string') expect(cell, `${phase} ${event}`).toMatch(/^[A-Z].{20,}\.$/);
      else expect(phases, `${phase} ${event}`).toContain(cell[0]);
    }
  });

  test('an event that a phase rules out is a broken invariant', () => {
    for (const { phase, event, cell } of cells) {
      if (typeof cell === 'string') expect(() => popStep(phase, event)).toThrow('invariant');
      else expect(popStep(phase, event)).toBe(cell);
    }
  });

  test('answers of other replicas may come in any phase, and change nothing once the pop is past claiming', () => {
    for (const event of fromOutside) {
      for (const phase of phases) {
        const [next] = popStep(phase, event);
        if (phase !== 'claiming') expect(next, `${phase} ${event}`).toBe(phase);
      }
    }
  });

  test('the request leaves from the queue alone, and only with a place and a claim that holds', () => {
    expect(named(steps.filter(({ action }) => action === 'call'))).toEqual(['queued place']);
    expect(popStep('queued', 'place-late')).toEqual(['claiming', 'ask']);
  });

  test('before the request leaves any change of the record ends the pop, and the claim is given back', () => {
    for (const phase of ['claiming', 'queued'] as const) {
      for (const event of ['yield', 'written', 'moved-on'] as const) {
        expect(popStep(phase, event)).toEqual(['over', 'give-back']);
      }
    }
  });

  test('a claim is given back by every pop that ends before its request leaves without a record, and by no other', () => {
    for (const { phase, event, next, action } of steps) {
      const isReturned = action === 'give-back' || action === 'postpone';
      const endsUnsent = !isOut(phase) && phase !== 'over' && next === 'over' && action !== 'write';
      expect(isReturned, `${phase} ${event}`).toBe(endsUnsent);
    }
  });

  test('once the request has left, the pop ends with a record, a later look or a newer record, never without a word', () => {
    const ends = steps.filter(({ phase, next }) => isOut(phase) && next === 'over');
    expect(ends.map(({ phase, event, action }) => `${phase} ${event}: ${action}`)).toEqual([
      'calling outcome: write',
      'giving-up rest: look-again',
      'giving-up outcome: write',
      'detached unmade: none',
      'detached rest: look-again',
      'detached outcome: write',
      'detached superseded: none',
    ]);
  });

  test('a dead letter is kept before the record moves on', () => {
    const kept = steps.filter(({ action }) => action === 'keep-letter');
    expect(kept.map(({ next }) => next)).toEqual(['giving-up', 'giving-up', 'detached']);
    for (const { next } of kept) expect(popStep(next, 'outcome')).toEqual(['over', 'write']);
  });

  test('a pop that is over stays over, and a detached one never gets its record back', () => {
    for (const { phase, event, next } of steps) {
      if (phase === 'over') expect(next, event).toBe('over');
      if (phase === 'detached') expect(isUnderWay(next), event).toBe(false);
    }
  });

  test('from every phase there is a way to over', () => {
    for (const start of phases) {
      const seen = new Set<PopPhase>([start]);
      for (const phase of seen) {
        for (const step of steps) if (step.phase === phase) seen.add(step.next);
      }
      expect(seen, start).toContain('over');
    }
  });

  test.each([
    ['claiming', true, false],
    ['queued', true, false],
    ['calling', true, true],
    ['giving-up', true, true],
    ['detached', false, true],
    ['over', false, false],
  ] as const)('%s: under way %s, out %s', (phase, underWay, out) => {
    expect([isUnderWay(phase), isOut(phase)]).toEqual([underWay, out]);
  });
});
