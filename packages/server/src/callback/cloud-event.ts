/**
 * A callback as a CloudEvent (specification 1.0) in binary mode: attributes in headers that begin with `ce-`, data in
 * the body. The usual headers of a callback stay beside them.
 */

export interface CloudEvent {
  /** The same for every attempt and on every replica. */
  readonly id: string;
  readonly namespace: string;
  /** Kind of event; null: a pop of a client's timer. */
  readonly event: string | null;
  readonly subject: string;
  /** RFC 3339. */
  readonly time: string;
}

const encoder = new TextEncoder();

export function cloudEventHeaders(event: CloudEvent): Record<string, string> {
  return {
    'ce-specversion': '1.0',
    'ce-id': headerValue(event.id),
    'ce-source': headerValue(`/carillon/${event.namespace}`),
    'ce-type': headerValue(`carillon.${event.event ?? 'pop'}`),
    'ce-subject': headerValue(event.subject),
    'ce-time': headerValue(event.time),
  };
}

/**
 * As the HTTP binding has it: blanks, quotation marks, per cent signs and all that is not ASCII are percent-encoded.
 */
export function headerValue(text: string): string {
  let value = '';
  for (const byte of encoder.encode(text)) {
    const plain = byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x25;
    value += plain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return value;
}
