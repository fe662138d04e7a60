/**
 * The client on Node: the same as `../index.ts`, on kept connections instead of `fetch`. Types are taken from there.
 */
import { Carillon as AnywhereCarillon, type CarillonOptions } from '../carillon.ts';
import { checkClient } from '../arguments/option-names.ts';
import { keptConnections } from './kept-connections.ts';

export { ApiError, UnreachableError } from '../errors.ts';
export { eventOf } from '../event.ts';
export { handler } from '../payload/handlers.ts';
export { PayloadError } from '../payload/payload.ts';
export { BoundedPopMemory } from '../pop-memory.ts';
export { receiver } from '../receiver.ts';
export { bodyOf } from '../timer-spec.ts';

/** As `Carillon` elsewhere. With a `fetch` of the caller's own, requests go through that one. */
export class Carillon extends AnywhereCarillon {
  constructor(options: CarillonOptions) {
    checkClient(options);
    super(options, options.fetch === undefined ? keptConnections() : undefined);
  }
}
