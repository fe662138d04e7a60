/** Methods and headers that a callback may have: none that changes where the request ends, or its receiver. */
import type { CallbackRequest } from '@carillon/core';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Headers that belong to the connection, or that decide where a request ends or which host it is for. */
const reserved = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const nameForm = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Why this header cannot be part of a callback; null when it can. The value is never repeated. */
export function refuseHeader(name: string, value: string): string | null {
  if (!nameForm.test(name)) return 'A header name must be a lower-case HTTP token.';
  if (reserved.has(name))
    return `The header "${name}" cannot be set: it belongs to the connection.`;
  if (!valueForm.test(value))
    return `The header "${name}" has characters that HTTP does not allow.`;
  return null;
}

export function refuseMethod(method: string): string | null {
  if (methods.has(method)) return null;
  return `The method must be one of ${[...methods].join(', ')}.`;
}

/** Why the request cannot be made: its method, or one of its headers; null when it can. */
export function refuseRequest({ method, headers }: CallbackRequest): string | null {
  const refusal = refuseMethod(method);
  if (refusal !== null) return refusal;
  for (const name of Object.keys(headers)) {
    const refused = refuseHeader(name, headers[name] as string);
    if (refused !== null) return refused;
  }
  return null;
}
