/** Requests within the limits that are as much work as their kind can be. None may keep the event loop for long. */
import type { ApiRequest } from '../http/message.ts';

/** How much there is of everything. */
export interface Most {
  readonly batchBytes: number;
  readonly itemCount: number;
}

/** The largest requests that the limits allow. */
export const most: Most = { batchBytes: 8 * 1024 * 1024, itemCount: 10_000 };

export interface LongRequest {
  readonly name: string;
  readonly request: () => ApiRequest;
}

const bodyBytes = 256 * 1024;
const headBytes = 15 * 1024;
const timing = '"timing":{"interval":30}';
const http = '"uri":"http://receiver.example/x"';
const good = `{${timing},"callback":{"http":{${http}}}}`;
const ndjson = { 'content-type': 'application/x-ndjson' };

/** A text of so many bytes at most, filled by repeating `unit`. */
function filled(bytes: number, unit: string, before = '', after = ''): string {
  const times = Math.floor((bytes - before.length - after.length) / unit.length);
  return before + unit.repeat(times) + after;
}

function batch(name: string, body: () => string): LongRequest {
  return { name: `a batch: ${name}`, request: () => posted('/timers/batch', body(), {}) };
}

function lines(name: string, body: () => string): LongRequest {
  return { name: `lines: ${name}`, request: () => posted('/timers/batch', body(), ndjson) };
}

function single(name: string, body: () => string): LongRequest {
  return { name: `one timer: ${name}`, request: () => posted('/timers', body(), {}) };
}

function preview(name: string, body: () => string): LongRequest {
  return { name: `a preview: ${name}`, request: () => posted('/timers/preview', body(), {}) };
}

function posted(path: string, body: string, headers: ApiRequest['headers']): ApiRequest {
  return { method: 'POST', path, query: '', headers, body: Buffer.from(body) };
}

function asked(name: string, target: string, headers: ApiRequest['headers'] = {}): LongRequest {
  const [path = '', query = ''] = target.split('?', 2);
  const request = { method: 'GET', path, query, headers, body: Buffer.alloc(0) };
  return { name: `a question: ${name}`, request: () => request };
}

const cron = (pattern: string): string =>
  `{"timing":{"cron":"${pattern}","forever":true},"callback":{"http":{${http}}}}`;
const replaceOf = (i: number): string =>
  `{"change":"replace","id":"${i.toString(16).padStart(16, '0')}-2","timer":${good}}`;
const cancelOfOne = '{"change":"cancel","id":"000000000000000a-2"}';
/** Different each time, and none ever comes. */
const impossible = (i: number): string =>
  cron(`${i % 60} ${Math.floor(i / 60) % 24} ${i % 2 === 0 ? '30' : '30,31'} 2 *`);
const impossibleAnd = (i: number): string => cron(`${i % 60} ${Math.floor(i / 60) % 24} 8 * +1#1`);
const zoned = (i: number): string =>
  `{"timing":{"cron":"* * * * *","timezone":"Zone/A${i}","forever":true},"callback":{"http":{${http}}}}`;

/** Every second one is like another before it. */
const almost = (i: number): string =>
  `{"timing":{"interval":${i}},"callback":{"http":{${http}}},"x":"${'y'.repeat(500)}","a${i % 2 === 0 ? i : 0}":0}`;

function inBatch({ batchBytes, itemCount }: Most): LongRequest[] {
  const many = (item: (i: number) => string) =>
    Array.from({ length: itemCount }, (_, i) => item(i));
  return [
    batch('many good timers', () => `[${many(() => good).join()}]`),
    batch('many that differ from the one before at their ends', () => `[${many(almost).join()}]`),
    batch('many changes by name', () => `[${many(replaceOf).join()}]`),
    batch('many cancels of one timer', () => `[${many(() => cancelOfOne).join()}]`),
    batch('many crons that never come', () => `[${many(impossible).join()}]`),
    batch('many crons whose day is never that weekday', () => `[${many(impossibleAnd).join()}]`),
    batch('many unknown time zones', () => `[${many(zoned).join()}]`),
    batch('many empty objects', () => `[${many(() => '{}').join()}]`),
    batch('many bad URIs', () => `[${many((i) => good.replace('/x', `:0/${i}`)).join()}]`),
    batch('bad tags, megabytes of them', () =>
      filled(batchBytes, '{},', `[{${timing},"tags":[`, '0]}]'),
    ),
    batch(
      'bad tags in timers of 250 KiB',
      () =>
        `[${Array.from({ length: Math.floor(batchBytes / bodyBytes) - 1 }, () => filled(bodyBytes, '{},', `{${timing},"tags":[`, '0]}')).join()}]`,
    ),
    batch('bad headers, megabytes of them', () => {
      const headers = Array.from({ length: batchBytes / 16 }, (_, i) => `"h${i}":0`).join();
      return `[{${timing},"callback":{"http":{${http},"headers":{${headers}}}}}]`;
    }),
    batch('megabytes of brackets', () => '['.repeat(batchBytes)),
    batch('megabytes of closed brackets', () => filled(batchBytes, '[],', '[', '0]')),
    batch('megabytes of braces', () => filled(batchBytes, '{"a":', '[')),
    batch('megabytes of line feeds', () => '\n'.repeat(batchBytes)),
    batch('megabytes of blanks inside', () => filled(batchBytes, ' ', '[', ']')),
    batch('megabytes of commas', () => filled(batchBytes, ',', '[', ']')),
    batch('megabytes of text', () => filled(batchBytes, 'x', '["', '"]')),
    batch('megabytes of quotes', () => filled(batchBytes, '"",', '[', '""]')),
    batch('megabytes of backslashes', () => filled(batchBytes, '\\\\', '["', '"]')),
    batch('megabytes that never end', () => filled(batchBytes, 'x', '["')),
  ];
}

function inLines({ batchBytes, itemCount }: Most): LongRequest[] {
  const many = (item: (i: number) => string) =>
    Array.from({ length: itemCount }, (_, i) => item(i));
  return [
    lines('megabytes of line feeds', () => '\n'.repeat(batchBytes)),
    lines('megabytes of blanks', () => ' '.repeat(batchBytes)),
    lines('many good timers', () => many(() => good).join('\n')),
    lines('many of nonsense', () => many(() => 'x').join('\n')),
    lines('millions', () => filled(batchBytes, '0\n')),
    lines('brackets', () => many(() => '['.repeat(800)).join('\n')),
  ];
}

const alone: LongRequest[] = [
  single('256 KiB of brackets', () => '['.repeat(bodyBytes)),
  single('256 KiB of bad tags', () => filled(bodyBytes, '{},', `{${timing},"tags":[`, '0]}')),
  single('256 KiB of bad headers', () => {
    const headers = Array.from({ length: 20_000 }, (_, i) => `"h${i}":0`).join();
    return `{${timing},"callback":{"http":{${http},"headers":{${headers}}}}}`;
  }),
  single(
    '256 KiB of members that mean nothing',
    () => `{${Array.from({ length: 20_000 }, (_, i) => `"m${i}":0`).join()}}`,
  ),
  single('a cron that never comes', () => impossibleAnd(0)),
  preview('a cron that never comes', () => impossibleAnd(1)),
  preview('leap days that are a Sunday', () => cron('59 59 23 29 2 +7')),
  preview('a cron of 256 signs', () => cron(filled(256, '1,', '', '1 * * * *'))),
  preview('the last second of every fifth Sunday in its own zone', () =>
    cron('59 59 23 * * 7#5').replace(
      '"forever"',
      '"timezone":"America/Argentina/ComodRivadavia","forever"',
    ),
  ),
  single('a cron of 256 signs', () => cron(filled(256, '1,', '', '1 * * * *'))),
];

const questions: LongRequest[] = [
  asked('15 KiB of parameters', `/timers?${'a=b&'.repeat(headBytes / 4)}`),
  asked('a path of 15 KiB', `/timers/${'a'.repeat(headBytes)}`),
  asked('a token of 15 KiB', '/timers', { authorization: `Bearer ${'a'.repeat(headBytes)}` }),
];

export function longRequests(size: Most): readonly LongRequest[] {
  return [...inBatch(size), ...inLines(size), ...alone, ...questions];
}
