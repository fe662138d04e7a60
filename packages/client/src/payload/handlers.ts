/** Handlers of a receiver by the name of the data, each with the type that its data has. */
import { refuseUnless } from '@carillon/core';
import type { Pop, PopHandler } from '../pop.ts';
import { checkSchema, fitting, type Payload, readPayload } from './payload.ts';
import type { StandardSchema } from './standard-schema.ts';

/** A pop of a timer that was set with `data`. */
export interface DataPop<Data> extends Pop {
  readonly name: string;
  readonly data: Data;
}

export type DataHandler<Data> = (pop: DataPop<Data>) => void | Promise<void>;

/** As `handler` makes it. */
export interface NamedHandler {
  handle(pop: Pop, payload: Payload): void | Promise<void>;
}

/** A handler whose data is believed to have the type, unchecked. */
export function handler<Data>(handle: DataHandler<Data>): NamedHandler;
/** A handler that is called with data that fits the schema, as the schema gives it back. */
export function handler<Data>(
  schema: StandardSchema<unknown, Data>,
  handle: DataHandler<Data>,
): NamedHandler;
export function handler<Data>(
  ...given: [DataHandler<Data>] | [StandardSchema<unknown, Data>, DataHandler<Data>]
): NamedHandler {
  refuseUnless(
    typeof given.at(-1) === 'function',
    'The last argument of handler',
    'a function that handles pops',
    given.at(-1),
  );
  if (given.length === 1) {
    const [handle] = given;
    return { handle: (pop, { name, data }) => handle({ ...pop, name, data: data as Data }) };
  }
  const [schema, handle] = given;
  checkSchema(schema);
  return {
    async handle(pop, payload) {
      await handle({ ...pop, name: payload.name, data: await fitting(schema, payload) });
    },
  };
}

/** A name that no handler has is no PayloadError: another instance of the receiver, of a newer release, may know it. */
export function byName(handlers: Readonly<Record<string, NamedHandler>>): PopHandler {
  refuseUnless(
    typeof handlers === 'object' && handlers !== null,
    'handlers',
    'an object of handlers by name',
    handlers,
  );
  for (const [name, named] of Object.entries(handlers)) {
    const fits = typeof (named as Partial<NamedHandler> | null)?.handle === 'function';
    refuseUnless(fits, `The handler of "${name}"`, 'the result of handler(…)', named);
  }
  return (pop) => {
    const payload = readPayload(pop.opaque);
    const named = Object.hasOwn(handlers, payload.name) ? handlers[payload.name] : undefined;
    if (named !== undefined) return named.handle(pop, payload);
    throw new Error(`No handler of this receiver is for "${payload.name}".`);
  };
}
