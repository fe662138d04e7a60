import { describe, expect, it } from 'vitest';
import { Kinship } from './shared-fields.ts';

describe('shared fields', () => {
  it('keeps one copy of the shared fields, until the last of their records is gone', () => {
    const kinship = new Kinship();
    const first = kinship.take({ namespace: 'n', factor: 2, replicas: ['a', 'b'] });
    const second = kinship.take({ namespace: 'n', factor: 2, replicas: ['a', 'b'] });
    expect(second).toBe(first);
    kinship.drop(first);
    expect(kinship.get(first).replicas).toEqual(['a', 'b']);
    kinship.drop(first);
    expect(kinship.size).toBe(0);
    expect(() => kinship.get(first)).toThrow(/invariant/);
  });

  it('tells similar combinations apart', () => {
    const kinship = new Kinship();
    const ids = [
      kinship.take({ namespace: 'n', factor: 1, replicas: ['a', 'b'] }),
      kinship.take({ namespace: 'n', factor: 1, replicas: ['b', 'a'] }),
      kinship.take({ namespace: 'n', factor: 2, replicas: ['a', 'b'] }),
      kinship.take({ namespace: 'n', factor: 1, replicas: ['a 1 b'] }),
      kinship.take({ namespace: 'n 1 a', factor: 1, replicas: ['b'] }),
      kinship.take({ namespace: 'n', factor: 1, replicas: [] }),
      kinship.take({ namespace: 'n', factor: 1, replicas: [''] }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('does not change when the list it was given does', () => {
    const kinship = new Kinship();
    const replicas = ['a'];
    const id = kinship.take({ namespace: 'n', factor: 1, replicas });
    replicas.push('b');
    expect(kinship.get(id).replicas).toEqual(['a']);
  });
});
