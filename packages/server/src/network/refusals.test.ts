import { VirtualClock } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import { Refusals } from './refusals.ts';

function create() {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const line = (_: string, fields: object = {}): void => {
    lines.push(JSON.stringify(fields));
  };
  const refusals = new Refusals(clock, { debug: line, info: line, warn: line, error: line });
  return { clock, lines, refusals };
}

describe('Refusals', () => {
  test('each is counted; a peer that keeps knocking is logged once a minute for each reason', async () => {
    const { clock, lines, refusals } = create();
    const knock = (): void => {
      for (let port = 1000; port < 1100; port++) {
        refusals.note({ reason: 'secret', peer: `10.0.0.1:${port}`, why: 'It does not know it.' });
        refusals.note({ reason: 'name', peer: `10.0.0.1:${port}`, why: 'It is nobody.' });
        refusals.note({ reason: 'secret', peer: `10.0.0.2:${port}`, why: 'It does not know it.' });
      }
    };
    knock();
    expect(lines).toHaveLength(3);
    await clock.advance(59_000);
    knock();
    expect(lines).toHaveLength(3);
    await clock.advance(1000);
    knock();
    expect(lines).toHaveLength(6);
    expect(refusals.counts).toMatchObject({ secret: 600, name: 300, crowded: 0 });
  });

  test('a hundred thousand strangers fill neither memory nor log', () => {
    const { lines, refusals } = create();
    for (let i = 0; i < 100_000; i++) {
      refusals.note({
        reason: 'malformed',
        peer: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}:1`,
        why: '',
      });
    }
    expect(lines).toHaveLength(1000);
    expect(refusals.counts.malformed).toBe(100_000);
  });
});
