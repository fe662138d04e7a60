/** `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date. */

const dateForm =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long to wait from `wallMs`; null when the header is absent or makes no sense. Never negative. */
export function parseRetryAfter(value: string | undefined, wallMs: number): number | null {
  const text = value?.trim();
  if (text === undefined) return null;
  if (/^[0-9]{1,12}$/.test(text)) return Number(text) * 1000;
  if (!dateForm.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - wallMs);
}
