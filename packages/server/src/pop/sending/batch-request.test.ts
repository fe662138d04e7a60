import fc from 'fast-check';
import { expect, it } from 'vitest';
import { definitionOf, letterOrigin as origin, recordOf } from '../../testing/records.ts';
import { BatchRequest } from './batch-request.ts';
import { callbackRequest, DueTexts, type PopContext } from '../../callback/request.ts';

const limits = { countMax: 3, lengthMax: 10_000 };

const dueTexts = new DueTexts();

function popOf(fields: Partial<PopContext> = {}): PopContext {
  const pop = {
    record: recordOf({ versionMs: 1_700_000_000_000, versionTie: 7 }),
    definition: definitionOf({ opaque: 'x' }),
    split: { origin: 'http://receiver', path: '/' },
    missed: 0,
    id: '00000019000000aa-2',
    timeoutMs: 1000,
    at: { nowMs: 10_000, wallMs: 1_700_000_010_000 },
    trace: null,
    ...fields,
  };
  return { ...pop, due: dueTexts.of(pop.record, pop.definition, pop.at) };
}

const addressee = {
  uri: 'http://receiver/',
  split: { origin: 'http://receiver', path: '/' },
  namespace: 'default',
};

function requestOf(pops: readonly PopContext[]) {
  const batch = new BatchRequest(limits);
  for (const pop of pops) batch.add(pop);
  return batch.finish(addressee, null, 0);
}

function linesOf(pops: readonly PopContext[]): Record<string, string | number>[] {
  const text = Buffer.from(requestOf(pops).body).toString();
  expect(text.endsWith('\n')).toBe(true);
  const lines = text.slice(0, -1).split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, string | number>);
}

it('a line tells the same as the headers of a single callback', () => {
  const pops = [
    popOf(),
    popOf({ missed: 4, record: recordOf({ attempt: 2, sequence: 8, dueMs: 5000 }) }),
    popOf({ definition: definitionOf({ opaque: 'x', origin }) }),
  ];
  const lines = linesOf(pops);
  for (const [i, pop] of pops.entries()) {
    const { headers } = callbackRequest(pop, null);
    const { id, sequence, due, version, attempt, missed, ...rest } = lines[i] ?? {};
    expect(rest).toEqual({ opaque: 'x' });
    const asHeaders = {
      'content-type': 'application/octet-stream',
      'x-timer-id': id,
      'x-sequence-number': String(sequence),
      'x-timer-due': due,
      'x-timer-version': version,
      'x-timer-attempt': String(attempt),
      ...(missed !== undefined && { 'x-timer-missed': String(missed) }),
    };
    expect(asHeaders).toEqual(headers);
  }
  expect(lines.map(({ missed }) => missed)).toEqual([undefined, 4, 2]);
  expect(lines[2]).toMatchObject({
    id: origin.id,
    version: '5.6',
    due: '1970-01-02T00:00:00.000Z',
  });
});

it('any opaque stays on its line and comes back whole', () => {
  const opaques = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u{feff}x', '"\\\n\r\t', '\u2028\u2029', '\0'),
  );
  fc.assert(
    fc.property(opaques, opaques, (one, other) => {
      fc.pre(one.isWellFormed() && other.isWellFormed());
      const pops = [one, other].map((opaque) => popOf({ definition: definitionOf({ opaque }) }));
      expect(linesOf(pops).map(({ opaque }) => opaque)).toEqual([one, other]);
    }),
  );
});

it('the time limit is the shortest of all, and the count is told', () => {
  const limited = (timeoutMs: number | null) => popOf({ definition: definitionOf({ timeoutMs }) });
  const { limitMs, headers } = requestOf([limited(null), limited(200), limited(5000)]);
  expect(limitMs).toBe(200);
  expect(headers['x-timer-count']).toBe('3');
  expect(requestOf([limited(null)]).limitMs).toBe(1000);
});

it('a batch is full at the limit of its pops, or of its length', () => {
  const full = (opaques: readonly string[]) => {
    const batch = new BatchRequest(limits);
    for (const opaque of opaques) batch.add(popOf({ definition: definitionOf({ opaque }) }));
    return batch.full;
  };
  expect([full([]), full(['a', 'b']), full(['a', 'b', 'c'])]).toEqual([false, false, true]);
  expect(full(['a'.repeat(10_000)])).toBe(true);
});
