import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockWriter, blockBytesMax, readBlock } from './block.ts';
import { actions, attemptToFill, type Entry } from './entry.ts';
import { attemptEntry, changeEntry } from './testing/entries.ts';

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const whole = fc.nat({ max: 1_000_000 });
const wall = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const word = fc.string({ maxLength: 20, unit: 'grapheme' });
const common = { wallMs: wall, namespace: word, hi: u32, lo: u32 };
const attempts = fc
  .record({ ...common, sequence: whole, attempt: whole, outcome: whole, position: whole })
  .chain((fields) =>
    fc
      .record({ detail: word, late: whole, took: whole })
      .map(({ detail, late, took }) =>
        attemptEntry({ ...fields, detail, latenessMs: late / 10, tookMs: took / 10 }),
      ),
  );
const changes = fc
  .record({
    ...common,
    action: fc.constantFrom(...actions),
    versionMs: wall,
    versionTie: u32,
    sequence: whole,
    actor: word,
    tag: word,
  })
  .map((fields) => changeEntry(fields));

function blockOf(entries: readonly Entry[]): Uint8Array {
  const writer = new BlockWriter();
  for (const entry of entries) writer.add(entry);
  return writer.take().bytes;
}

describe('blocks of the history', () => {
  it('have an entry as it was when it was added, also when it is filled again', () => {
    const writer = new BlockWriter();
    const entry = attemptToFill();
    for (const sequence of [1, 2]) {
      Object.assign(entry, { sequence, wallMs: 1000 + sequence, detail: `no ${sequence}` });
      writer.add(entry);
    }
    const told = readBlock(writer.take().bytes, 0)?.entries;
    expect(told).toEqual([
      { ...entry, sequence: 1, wallMs: 1001, detail: 'no 1' },
      { ...entry, sequence: 2, wallMs: 1002, detail: 'no 2' },
    ]);
  });

  it('give back every entry as it was added, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(attempts, changes), { maxLength: 40 }), (entries) => {
        expect(readBlock(blockOf(entries), 0)?.entries).toEqual(entries);
      }),
      { numRuns: 200 },
    );
  });

  it('are no blocks any more when one byte of them is another', () => {
    const bytes = blockOf([attemptEntry({ detail: 'no such order' }), changeEntry()]);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 0x41;
      expect(readBlock(damaged, 0), `byte ${at}`).toBeNull();
      expect(readBlock(bytes.subarray(0, at), 0), `first ${at} bytes`).toBeNull();
    }
  });

  it('take about 30 bytes for an attempt and 30 for a change, also with long texts', () => {
    const many = (one: (i: number) => Entry): number =>
      blockOf(Array.from({ length: 500 }, (_, i) => one(i))).length / 500;
    const namespace = 'a-namespace-with-a-long-name';
    const wallMs = Date.UTC(2026, 0, 1);
    const attempt = (i: number): Entry =>
      attemptEntry({
        namespace,
        wallMs: wallMs + i,
        lo: i * 7919,
        detail: 'out of order'.repeat(9),
      });
    const change = (i: number): Entry =>
      changeEntry({
        namespace,
        wallMs: wallMs + i,
        versionMs: wallMs + i,
        actor: 'shop',
        tag: 'order-17',
      });
    expect(many(attempt)).toBeLessThan(30);
    expect(many(change)).toBeLessThan(30);
  });

  it('are full before they are too long to be read, with texts of any length', () => {
    const writer = new BlockWriter();
    for (let i = 0; !writer.isFull; i++) {
      const long = (text: string): string => `${i} ${text.repeat(4000)}`;
      writer.add(changeEntry({ namespace: long('€'), actor: long('ü'), tag: long('字') }));
    }
    const { bytes } = writer.take();
    expect(bytes.length).toBeLessThan(blockBytesMax);
    expect(readBlock(bytes, 0)?.entries[0]).toMatchObject({ actor: `0 ${'ü'.repeat(2046)}` });
    expect(writer.entryCount).toBe(0);
  });
});
