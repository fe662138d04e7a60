/** The contract of the clock, run on the system clock and on virtual ones. `pass` lets about that much time go by. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../env.ts';

export interface ClockUnderTest {
  readonly clock: Clock;
  readonly pass: (ms: number) => Promise<void>;
}

export function clockContract(name: string, make: () => ClockUnderTest): void {
  describe(`clock contract: ${name}`, () => {
    it('never goes back', async () => {
      const { clock, pass } = make();
      let last = clock.now();
      for (let i = 0; i < 5; i++) {
        await pass(1);
        expect(clock.now()).toBeGreaterThanOrEqual(last);
        last = clock.now();
      }
    });

    it('tells the wall time in whole milliseconds since 1970', () => {
      const { clock } = make();
      expect(Number.isInteger(clock.wall())).toBe(true);
      expect(clock.wall()).toBeGreaterThan(Date.UTC(2020, 0, 1));
    });

    it('calls an alarm once, not before its time', async () => {
      const { clock, pass } = make();
      const calledMs: number[] = [];
      const atMs = clock.now() + 5.5;
      clock.at(atMs, () => calledMs.push(clock.now()));
      expect(calledMs).toEqual([]);
      while (calledMs.length === 0) await pass(2);
      await pass(10);
      expect(calledMs.length).toBe(1);
      expect(calledMs[0]).toBeGreaterThanOrEqual(atMs);
    });

    it('calls alarms in the order of their times', async () => {
      const { clock, pass } = make();
      const order: string[] = [];
      const nowMs = clock.now();
      clock.at(nowMs + 12, () => order.push('late'));
      clock.at(nowMs + 4, () => order.push('early'));
      while (order.length < 2) await pass(3);
      expect(order).toEqual(['early', 'late']);
    });

    it('never calls an alarm inside the call that sets it, even one long due', async () => {
      const { clock, pass } = make();
      const called: string[] = [];
      clock.at(clock.now() - 1000, () => called.push('overdue'));
      expect(called).toEqual([]);
      while (called.length === 0) await pass(1);
    });

    it('does not call a cancelled alarm; cancelling twice or too late does nothing', async () => {
      const { clock, pass } = make();
      const called: string[] = [];
      const cancel = clock.at(clock.now() + 3, () => called.push('cancelled'));
      cancel();
      cancel();
      const late = clock.at(clock.now() + 3, () => called.push('kept'));
      while (called.length === 0) await pass(3);
      late();
      await pass(5);
      expect(called).toEqual(['kept']);
    });

    it('runs functions given to soon after the running one, in order', async () => {
      const { clock, pass } = make();
      const order: number[] = [];
      clock.soon(() => order.push(1));
      clock.soon(() => order.push(2));
      expect(order).toEqual([]);
      while (order.length < 2) await pass(1);
      expect(order).toEqual([1, 2]);
    });

    it('waits for an alarm that is years ahead', async () => {
      const { clock, pass } = make();
      let called = false;
      const cancel = clock.at(clock.now() + 50 * 365 * 86_400_000, () => {
        called = true;
      });
      await pass(5);
      expect(called).toBe(false);
      cancel();
    });
  });
}
