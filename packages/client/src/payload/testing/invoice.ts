/** A schema written by hand, as a library of schemas would give it: its output has a member more than its input. */
import type { SchemaIssue, StandardSchema } from '../standard-schema.ts';

export interface Invoice {
  readonly number: number;
  readonly cents: number;
}

type Priced = Invoice & { readonly euros: string };

export const invoiceSchema: StandardSchema<Invoice, Priced> = {
  '~standard': {
    version: 1,
    vendor: 'by hand',
    validate(value) {
      if (typeof value !== 'object' || value === null) {
        return { issues: [{ message: 'expected an object' }] };
      }
      const issues = issuesOf(value as Record<string, unknown>);
      if (issues.length > 0) return { issues };
      const invoice = value as Invoice;
      return { value: { ...invoice, euros: (invoice.cents / 100).toFixed(2) } };
    },
  },
};

/** Paths in both forms that the standard knows: keys, and objects with a key. */
function issuesOf(value: Readonly<Record<string, unknown>>): SchemaIssue[] {
  const wrong = ['number', 'cents']
    .filter((key) => typeof value[key] !== 'number')
    .map((key) => ({ message: 'expected a number', path: [{ key }] }));
  const more = Object.keys(value)
    .filter((key) => !['number', 'cents'].includes(key))
    .map((key) => ({ message: 'expected no more', path: [key] }));
  return [...wrong, ...more];
}

/** The same schema, as libraries have it that check asynchronously only. */
export function asynchronous<Input, Output>({
  '~standard': standard,
}: StandardSchema<Input, Output>): StandardSchema<Input, Output> {
  return {
    '~standard': { ...standard, validate: async (value) => await standard.validate(value) },
  };
}
