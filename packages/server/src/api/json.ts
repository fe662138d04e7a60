/** JSON from strangers: valid UTF-8, nested no deeper and with no more values than allowed, or a CarillonError. */
import { sentenceOf } from '@carillon/core';
import { isUtf8 } from 'node:buffer';
import { type Shape, shapeOf, tooDeep, valueCountMax } from './batch-items.ts';
import { badRequest } from '../http/problem.ts';

/**
 * Throws CarillonError. JavaScript's parser accepts any depth, but takes long over it, and later code that recurses
 * into the result might overflow the stack. It would also silently replace bytes that are not UTF-8, while a client's
 * text must come back byte for byte.
 */
export function parseJson(
  bytes: Uint8Array,
  depthMax: number,
  { depth, commas }: Shape = shapeOf(bytes),
): unknown {
  if (!isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.');
  if (depth > depthMax) throw tooDeep(depthMax);
  if (commas >= valueCountMax) throw badRequest(`The body has more than ${valueCountMax} values.`);
  const { buffer, byteOffset, byteLength } = bytes;
  return parseText(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
}

/** The JSON of a request's whole body. Throws CarillonError. */
export function parseBody(bytes: Uint8Array, depthMax: number): unknown {
  if (bytes.length === 0) {
    throw badRequest(
      'The body is empty; it must be a timer as JSON, with "timing" and "callback".',
    );
  }
  return parseJson(bytes, depthMax);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badRequest(`The body is not valid JSON: ${sentenceOf(cause).slice(0, 200)}.`);
  }
}
