import { describe, expect, test } from 'vitest';
import { asMarkdown, blockFor } from './page.ts';
import type { Summary } from './summary.ts';

const none = { broken: 0, excused: 0 };
const lateness = { callbacks: 1200, p50Ms: 4, p99Ms: 26, maxMs: 90 };
const summary: Summary = {
  minutes: 30,
  seed: 7,
  kept: true,
  broken: [],
  counts: {
    sets: 11_000,
    cancels: 900,
    pops: 10_000,
    callbacks: 10_005,
    lost: 0,
    early: 0,
    late: none,
    twice: { outside: 0, inside: 5 },
    revived: none,
    fewCopies: { broken: 0, excused: 3 },
    refused: 0,
  },
  faults: { killed: 2, paused: 1 },
  skipped: [],
  starvedMs: { n0: 1500 },
  lateness: { quiet: lateness, fault: lateness },
  memory: [
    {
      member: 'n0',
      startBytes: 100 * 2 ** 20,
      maxBytes: 140 * 2 ** 20,
      endBytes: 120 * 2 ** 20,
      growth: { verdict: 'level', bytesPerHour: 0, grownBytes: 0, seconds: 1800 },
    },
  ],
};

test('the table has the counts of the run, the limits, and whether every promise was kept', () => {
  const text = asMarkdown(summary).join('\n');
  for (const row of [
    '| run | 30 minutes, seed 7 |  |',
    '| faults | killed 2, paused 1 |  |',
    '| callbacks | 10,005 of 10,000 pops |  |',
    '| lost | 0 | 0 |',
    '| twice | 0; 5 more where a fault explains it | 0 |',
    '| memory of n0 | 100 MiB at the start, 140 at most, 120 at the end; level | level |',
    '| promises | every one kept |  |',
  ]) {
    expect(text).toContain(row);
  }
  expect(text).not.toContain('long stalls');
});

test('of stalls alone the share of repeated pops stands beside its limit; a broken promise is in bold', () => {
  const broken = ['P5: a | b came twice.'];
  const text = asMarkdown({ ...summary, faults: { stalled: 30 }, broken }).join('\n');
  expect(text).toContain(
    '| twice, with the ones after long stalls | 0.050 % of pops | 0.1 % of pops |',
  );
  expect(text).toContain('| **broken:** P5: a \\| b came twice. |');
});

describe('docs/security.md has a place', () => {
  test('for a soak of all faults and for stalls of up to 1 and 5 s', () => {
    for (const block of [
      blockFor(null, 1000),
      blockFor('stalled', 1000),
      blockFor('stalled', 5000),
    ])
      expect(block).toHaveProperty('name');
  });

  test('and for no other, which is said before the soak begins', () => {
    for (const block of [blockFor('stalled', 300), blockFor('killed', 1000)])
      expect(block).toBeInstanceOf(Error);
  });
});
