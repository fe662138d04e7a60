/**
 * Data of a timer as JSON. The opaque text of a timer that is set with data is `{"name": …, "data": …}`: the name says
 * which handler of a receiver the data is for, also where several pops come in one request.
 */
import { refuseUnless } from '@carillon/core';
import { pointerOf, type SchemaIssue, type StandardSchema } from './standard-schema.ts';

/** Data that a timer cannot be set with, or that a receiver cannot hand to its handler. */
export class PayloadError extends TypeError {
  override readonly name = 'PayloadError';
  /** Of the schema; empty: the data is not JSON of the expected form. */
  readonly issues: readonly SchemaIssue[];

  constructor(message: string, issues: readonly SchemaIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

export interface Payload {
  readonly name: string;
  readonly data: unknown;
}

export function payloadText({ name, data }: Payload): string {
  if (typeof name !== 'string' || name === '') {
    throw new PayloadError('A timer with data needs a name: the handler of the receiver has it.');
  }
  const text = jsonOf(name, data);
  return `{"name":${JSON.stringify(name)},"data":${text}}`;
}

function jsonOf(name: string, data: unknown): string {
  let why = `${typeof data} has no form in JSON`;
  try {
    const text = JSON.stringify(data) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    why = String(error);
  }
  throw new PayloadError(`The data of "${name}" cannot be sent: ${why}.`);
}

/** Throws PayloadError for a text that `payloadText` cannot have made. */
export function readPayload(text: string): Payload {
  const { name, data } = parsed(text) as Partial<Payload>;
  if (typeof name === 'string' && data !== undefined) return { name, data };
  throw new PayloadError('The body is no {"name": …, "data": …}: the timer was set without data.');
}

function parsed(text: string): object {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? json : {};
  } catch {
    return {};
  }
}

/** Throws TypeError. */
export function checkSchema(schema: unknown): void {
  const given = schema as Partial<StandardSchema> | null | undefined;
  const fits = typeof given?.['~standard']?.validate === 'function';
  refuseUnless(fits, 'schema', 'one that knows Standard Schema', schema);
}

/** The data as the schema gives it back. Throws PayloadError, or rejects with it, for data that does not fit. */
export function fitting<Output>(
  schema: StandardSchema<unknown, Output>,
  { name, data }: Payload,
): Output | Promise<Output> {
  const judged = schema['~standard'].validate(data);
  const valueOf = (result: Awaited<typeof judged>): Output => {
    if (result.issues === undefined) return result.value;
    throw new PayloadError(sentenceOf(name, result.issues), result.issues);
  };
  return judged instanceof Promise ? judged.then(valueOf) : valueOf(judged);
}

function sentenceOf(name: string, issues: readonly SchemaIssue[]): string {
  const [first] = issues;
  const where = first === undefined ? '' : pointerOf(first);
  const told = first === undefined ? 'the schema says no' : first.message;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return `The data of "${name}" does not fit its schema${where && ` at ${where}`}: ${told}${more}`;
}
