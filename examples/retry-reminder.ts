/**
 * A reminder of an invoice that is not paid in time. Paid in time: the reminder is cancelled. Not paid: it is sent, and
 * if the mail server is down at that moment, the handler throws and the cluster comes again. Run it beside a member:
 * node --conditions=source examples/retry-reminder.ts
 */
import { Carillon, receiver } from '@carillon/client';
import { listen } from './receiver-http.ts';

const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
const { promise: sent, resolve: done } = Promise.withResolvers<void>();

const receive = receiver(
  (pop) => {
    if (pop.attempt === 1) throw new Error('the mail server is down');
    console.log(`reminder sent for ${pop.opaque}, attempt ${pop.attempt}`);
    done();
  },
  { onError: (error, pop) => console.log(`${pop.opaque}: ${(error as Error).message}`) },
);
const { url, close } = await listen(receive);

/** Three days in real life; retries begin after seconds and go on for a day unless told otherwise. */
const remind = (invoice: string) =>
  carillon.set(
    {
      in: '2s',
      uri: `${url}/reminders`,
      opaque: invoice,
      tags: ['reminders'],
      retry: { base: '100ms', limit: '1h' },
    },
    // Asking twice for the same invoice is one reminder.
    { idempotencyKey: `reminder-${process.pid}-${invoice}` },
  );

const paid = await remind('invoice 1');
await remind('invoice 2');
await remind('invoice 2');
await carillon.cancel(paid.id);
console.log('invoice 1 is paid');

await sent;
close();
