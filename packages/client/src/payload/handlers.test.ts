import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Pop } from '../pop.ts';
import { receiver } from '../receiver.ts';
import { handler } from './handlers.ts';
import { PayloadError, payloadText } from './payload.ts';
import { asynchronous, type Invoice, invoiceSchema } from './testing/invoice.ts';

let sequence = 0;
function callback(body: string): Request {
  const headers = { 'x-timer-id': 'a-1', 'x-sequence-number': String(++sequence) };
  return new Request('http://receiver/', { method: 'POST', headers, body });
}

const invoice: Invoice = { number: 17, cents: 4200 };
const due = payloadText({ name: 'invoice-due', data: invoice });

function make() {
  const told: unknown[] = [];
  const errors: [unknown, Pop][] = [];
  const receive = receiver({
    handlers: {
      'invoice-due': handler<Invoice>(({ name, data }) => {
        expectTypeOf(data).toEqualTypeOf<Invoice>();
        told.push(name, data);
      }),
      priced: handler(invoiceSchema, ({ data, sequence: pop }) => {
        expectTypeOf(data.euros).toEqualTypeOf<string>();
        told.push(pop, data.euros);
      }),
      later: handler(asynchronous(invoiceSchema), async ({ data }) => {
        await Promise.resolve();
        told.push(data.euros);
      }),
      'mail-is-down': handler(() => {
        throw new Error('no mail');
      }),
    },
    onError: (...error) => errors.push(error),
  });
  const answer = async (body: string): Promise<[number, string]> => {
    const response = await receive(callback(body));
    return [response.status, await response.text()];
  };
  return { told, errors, answer, receive };
}

describe('a receiver with handlers by name', () => {
  test('hands the data to the handler of its name', async () => {
    const { told, answer } = make();
    expect(await answer(due)).toEqual([200, 'OK']);
    expect(told).toEqual(['invoice-due', invoice]);
  });

  test('hands over data as the schema gives it back, also asynchronously', async () => {
    const { told, answer } = make();
    await answer(payloadText({ name: 'priced', data: invoice }));
    await answer(payloadText({ name: 'later', data: invoice }));
    expect(told).toEqual([sequence - 1, '42.00', '42.00']);
  });

  test.each([
    ['priced', { number: 17 }, 'The data of "priced" does not fit its schema at /cents'],
    ['later', {}, 'The data of "later" does not fit its schema at /number'],
  ])(
    '%s: data that does not fit is 410, so that it is not tried again',
    async (name, data, told) => {
      const { errors, answer, told: handled } = make();
      const [status, text] = await answer(payloadText({ name, data }));
      expect([status, text]).toEqual([410, expect.stringContaining(told)]);
      expect(errors).toEqual([[expect.any(PayloadError), expect.objectContaining({ id: 'a-1' })]]);
      expect(handled).toEqual([]);
    },
  );

  test('a body without name and data is 410', async () => {
    const { answer } = make();
    expect(await answer('order 17')).toEqual([410, expect.stringContaining('set without data')]);
  });

  test.each(['trial-over', 'toString', '__proto__'])(
    'a name without a handler (%s) is 500: another instance may have one',
    async (name) => {
      const { errors, answer } = make();
      expect((await answer(payloadText({ name, data: 1 })))[0]).toBe(500);
      expect(String(errors[0]?.[0])).toBe(`Error: No handler of this receiver is for "${name}".`);
    },
  );

  test('a handler that throws is 500', async () => {
    expect((await make().answer(payloadText({ name: 'mail-is-down', data: 1 })))[0]).toBe(500);
  });

  test('of several pops in one request, the one whose data does not fit fails alone', async () => {
    const { told, receive } = make();
    const lines = [due, payloadText({ name: 'priced', data: 1 })].map((opaque, i) =>
      JSON.stringify({
        id: `b${i}-1`,
        sequence: 1,
        due: '',
        version: `${i}.0`,
        attempt: 1,
        opaque,
      }),
    );
    const request = callback(lines.join('\n'));
    request.headers.set('x-timer-count', '2');
    const { status, headers } = await receive(request);
    expect([status, headers.get('x-timer-failed')]).toEqual([410, '1']);
    expect(told).toEqual(['invoice-due', invoice]);
  });
});
