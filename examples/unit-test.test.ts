/**
 * How to test code that uses timers: a member in the process of the test, without network, and with a clock to turn.
 */
import { Carillon, receiver } from '@carillon/client';
import { startTestMember } from 'carillon/testing';
import { expect, test } from 'vitest';

/** The code under test: a trial that ends after 14 days, unless the customer subscribes. */
class Trials {
  readonly ended: string[] = [];
  readonly receive = receiver((pop) => {
    this.ended.push(pop.opaque);
  });
  private readonly timers = new Map<string, string>();

  async start(carillon: Carillon, customer: string): Promise<void> {
    const uri = 'http://app.test/trial-ended';
    const { id } = await carillon.set({ in: '14d', uri, opaque: customer });
    this.timers.set(customer, id);
  }

  async subscribe(carillon: Carillon, customer: string): Promise<void> {
    await carillon.cancel(this.timers.get(customer) ?? '');
  }
}

test('a trial ends after 14 days, but not for a customer who subscribes', async () => {
  const trials = new Trials();
  const member = await startTestMember({ receivers: { 'http://app.test': trials.receive } });
  const carillon = new Carillon({ members: [member.url], fetch: member.fetch, refresh: null });

  await trials.start(carillon, 'ada');
  await trials.start(carillon, 'grace');
  await member.clock.advance('13d');
  expect(trials.ended).toEqual([]);

  await trials.subscribe(carillon, 'grace');
  await member.clock.advance('1d');
  expect(trials.ended).toEqual(['ada']);
  await member.stop();
});
