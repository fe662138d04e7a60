/** Options of spans and metrics that are sent to a collector. */
import { type Kind, ms, optional, Wrong } from './kinds.ts';
import { hour, type Option, option, second } from './option.ts';

const endpoint: Kind<string> = (raw) => {
  const wrong = new Wrong(
    'the http or https URL of an OTLP/HTTP collector without query, such as http://127.0.0.1:4318',
  );
  if (typeof raw !== 'string') return wrong;
  const url = URL.parse(raw);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return wrong;
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    return wrong;
  return raw.endsWith('/') ? raw.slice(0, -1) : raw;
};

const ratio: Kind<number> = (raw) => {
  const value = typeof raw === 'string' && /^[0-9.]{1,20}$/.test(raw) ? Number(raw) : raw;
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  return new Wrong('a number from 0 to 1');
};

const nameForm = /^[A-Za-z0-9_-]{1,64}$/;
const valueForm = /^[\x20-\x7e]{0,4096}$/;

/** An object of texts in files; `name=value,name=value` in flags and environment. */
const headers: Kind<Readonly<Record<string, string>>> = (raw) => {
  const wrong = new Wrong('headers such as x-api-key=abc, separated by commas');
  const pairs =
    typeof raw === 'string'
      ? raw.split(',').filter(Boolean).map(pairOf)
      : typeof raw === 'object' && raw !== null && !Array.isArray(raw) && Object.entries(raw);
  if (!pairs) return wrong;
  for (const [name, value] of pairs) {
    if (!nameForm.test(name) || name === '__proto__') return wrong;
    if (typeof value !== 'string' || !valueForm.test(value)) return wrong;
  }
  return Object.fromEntries(pairs);
};

function pairOf(text: string): [string, string | null] {
  const at = text.indexOf('=');
  return at === -1 ? [text.trim(), null] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

const headersOption: Option<Readonly<Record<string, string>>> = {
  value: {},
  kind: headers,
  help: 'Headers of every request to the collector, for its key.',
  secret: true,
};

export const telemetry = {
  endpoint: option(
    null,
    optional(endpoint),
    'URL of an OpenTelemetry collector that gets spans and metrics as OTLP/HTTP in JSON, at /v1/traces and /v1/metrics below it. Not set: nothing is recorded and nothing is sent, and the traceparent of a set goes on to its callback all the same.',
  ),
  headers: headersOption,
  sampleRatio: option(
    0.01,
    ratio,
    'Share of the traces that begin at a member which is recorded: sets without traceparent, and pops that do not go on with the trace of their set. Sets with traceparent are recorded where their client records, and so is the pop of a timer that pops once. 1: each set and each pop. Lower: less CPU and fewer spans. At any share, at most about 5,000 spans a second are exported; more are dropped and counted.',
  ),
  intervalMs: option(
    10 * second,
    ms(100, hour),
    'How often metrics are sent, and spans where they are few. Lower: more requests. Higher: spans are seen later.',
  ),
} as const;
