import { describe, expect, expectTypeOf, test } from 'vitest';
import { scriptedClient } from '../testing/scripted-client.ts';
import { json } from '../testing/stand-in.ts';
import { checkedBody } from '../timer-spec.ts';
import { fitting, PayloadError, payloadText, readPayload } from './payload.ts';
import { asynchronous, type Invoice, invoiceSchema } from './testing/invoice.ts';

const later = { in: '1h', uri: 'http://r/' } as const;
const invoice: Invoice = { number: 17, cents: 4200 };

describe('the text of a payload', () => {
  test.each([[invoice], [[1, 'two', null]], ['grüß "dich"'], [0], [null], [false]])(
    'brings back the name and %j',
    (data) => {
      const name = 'invoice "due"';
      expect(readPayload(payloadText({ name, data }))).toEqual({ name, data });
    },
  );

  test.each([
    ['a function', () => 1, /function has no form in JSON/],
    ['nothing', undefined, /undefined has no form in JSON/],
    ['a BigInt', 1n, /BigInt/],
  ])('%s has none', (_what, data, sentence) => {
    expect(() => payloadText({ name: 'x', data })).toThrow(sentence);
  });

  test('data without a name has none', () => {
    expect(() => payloadText({ name: '', data: 1 })).toThrow(/needs a name/);
  });

  test.each(['order 17', '', '17', 'null', '[]', '{"name":"x"}', '{"name":1,"data":1}'])(
    '%j is none',
    (text) => {
      expect(() => readPayload(text)).toThrow(PayloadError);
    },
  );
});

describe('data and its schema', () => {
  test.each([
    [{ number: 17 }, 'The data of "due" does not fit its schema at /cents: expected a number'],
    [17, 'The data of "due" does not fit its schema: expected an object'],
    [{}, 'at /number: expected a number (and 1 more)'],
    [{ ...invoice, 'a/b~': 1 }, 'at /a~1b~0: expected no more'],
  ])('%j: %s', (data, sentence) => {
    expect(() => fitting(invoiceSchema, { name: 'due', data })).toThrow(sentence);
  });

  test('a schema gives back data of another type than it takes', () => {
    const given = fitting(invoiceSchema, { name: 'due', data: invoice });
    expect(given).toEqual({ number: 17, cents: 4200, euros: '42.00' });
    expectTypeOf<Awaited<typeof given>>().toEqualTypeOf<Invoice & { readonly euros: string }>();
  });

  test('a schema that checks asynchronously rejects with the same error', async () => {
    const schema = asynchronous(invoiceSchema);
    await expect(fitting(schema, { name: 'due', data: {} })).rejects.toThrow(PayloadError);
  });
});

describe('a timer with data', () => {
  test('carries name and data as opaque, and no schema', () => {
    const body = checkedBody({ ...later, name: 'due', data: invoice, schema: invoiceSchema });
    expect(body).toEqual({
      timing: { interval: 3600 },
      callback: {
        http: { uri: 'http://r/', opaque: '{"name":"due","data":{"number":17,"cents":4200}}' },
      },
    });
  });

  test('is checked as its receiver will see it: a Date is a text there', () => {
    const data = { number: new Date(0), cents: 1 } as unknown as Invoice;
    const spec = { ...later, name: 'due', data, schema: invoiceSchema };
    expect(() => checkedBody(spec)).toThrow('at /number: expected a number');
  });

  test('has no opaque beside it', () => {
    const both = { ...later, name: 'due', data: invoice, opaque: 'x' };
    // @ts-expect-error -- opaque and data
    expect(() => checkedBody(both)).toThrow('opaque or data, not both');
  });

  test('of a list is named by its place, with the issues of its schema', async () => {
    const { client, seen } = scriptedClient(() => json([]));
    const schema = asynchronous(invoiceSchema);
    const misfit = { ...later, name: 'due', data: { number: 17 } as unknown as Invoice, schema };
    const setting = client.setMany([later, misfit]);
    await expect(setting).rejects.toBeInstanceOf(PayloadError);
    await expect(setting).rejects.toMatchObject({
      message: 'timers[1]: The data of "due" does not fit its schema at /cents: expected a number',
      issues: [{ path: [{ key: 'cents' }] }],
    });
    expect(seen).toEqual([]);
  });

  test('needs a name', () => {
    // @ts-expect-error -- no name
    expect(() => checkedBody({ ...later, data: invoice })).toThrow('needs a name');
    // @ts-expect-error -- a name for nothing
    expect(() => checkedBody({ ...later, name: 'due' })).toThrow('undefined has no form');
  });
});
