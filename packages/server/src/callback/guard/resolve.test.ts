import { describe, expect, it } from 'vitest';
import { coalesced, limited, type Resolve, systemResolve } from './resolve.ts';

/** Keeps questions until the test answers. */
class Asked {
  readonly open: { name: string; done: (addresses: readonly string[]) => void }[] = [];
  readonly resolve: Resolve = (name, done) => this.open.push({ name, done });

  get names(): string[] {
    return this.open.map(({ name }) => name);
  }

  answer(addresses: readonly string[]): void {
    this.open.shift()?.done(addresses);
  }
}

function collect(resolve: Resolve, ...names: string[]): (readonly string[])[] {
  const results: (readonly string[])[] = [];
  for (const name of names) resolve(name, (addresses) => results.push(addresses));
  return results;
}

describe('coalesced', () => {
  it('asks once for askers at the same time, and again afterwards', () => {
    const asked = new Asked();
    const resolve = coalesced(asked.resolve);
    const results = collect(resolve, 'a', 'b', 'a');
    expect(asked.names).toEqual(['a', 'b']);
    asked.answer(['1.1.1.1']);
    expect(results).toEqual([['1.1.1.1'], ['1.1.1.1']]);
    collect(resolve, 'a');
    expect(asked.names).toEqual(['b', 'a']);
  });
});

describe('limited', () => {
  it('has no more than the limit open, in the order asked', () => {
    const asked = new Asked();
    const results = collect(limited(2, asked.resolve), 'a', 'b', 'c', 'd');
    expect(asked.names).toEqual(['a', 'b']);
    asked.answer(['1.1.1.1']);
    expect(asked.names).toEqual(['b', 'c']);
    asked.answer([]);
    asked.answer([]);
    asked.answer(['4.4.4.4']);
    expect(results).toEqual([['1.1.1.1'], [], [], ['4.4.4.4']]);
  });

  it('gives no addresses to questions beyond the longest queue', () => {
    const asked = new Asked();
    const resolve = limited(1, asked.resolve);
    const names = Array.from({ length: 1002 }, (_, i) => `n${i}`);
    expect(collect(resolve, ...names)).toEqual([[]]);
  });
});

describe('systemResolve', () => {
  it('knows localhost', async () => {
    const addresses = await new Promise<readonly string[]>((resolve) =>
      systemResolve()('localhost', resolve),
    );
    expect(addresses.every((one) => one === '::1' || one.startsWith('127.'))).toBe(true);
    expect(addresses.length).toBeGreaterThan(0);
  });
});
