import { describe, expect, it } from 'vitest';
import { SharedFields } from './shared-fields.ts';

describe('shared fields', () => {
  it('keeps one copy of the shared fields, until the last of their records is gone', () => {
    const sharedFields = new SharedFields();
    const first = sharedFields.take({ namespace: 'n', factor: 2, replicas: ['a', 'b'] });
    const second = sharedFields.take({ namespace: 'n', factor: 2, replicas: ['a', 'b'] });
    expect(second).toBe(first);
    sharedFields.drop(first);
    expect(sharedFields.get(first).replicas).toEqual(['a', 'b']);
    sharedFields.drop(first);
    expect(() => sharedFields.get(first)).toThrow(/invariant/);
  });

  it('from a snapshot get the number that they had, where it is free', () => {
    const sharedFields = new SharedFields();
    const fields = (namespace: string) => ({ namespace, factor: 1, replicas: ['a'] });
    expect(sharedFields.place(3, fields('x'))).toBe(3);
    expect(sharedFields.place(9, fields('x'))).toBe(3);
    const other = sharedFields.place(3, fields('y'));
    expect(other).not.toBe(3);
    sharedFields.hold(3);
    sharedFields.leave(3);
    sharedFields.leave(other);
    expect(() => sharedFields.get(other)).toThrow(/invariant/);
    expect(sharedFields.get(3).namespace).toBe('x');
    // A number so far above the highest one in use stands only in a snapshot that is wrong.
    expect(sharedFields.place(2 ** 40, fields('z'))).toBeLessThan(10);
    const ids = ['p', 'q', 'r', 's'].map((name) => sharedFields.take(fields(name)));
    expect(new Set([3, ...ids]).size).toBe(5);
  });

  it('tells similar combinations apart', () => {
    const sharedFields = new SharedFields();
    const ids = [
      sharedFields.take({ namespace: 'n', factor: 1, replicas: ['a', 'b'] }),
      sharedFields.take({ namespace: 'n', factor: 1, replicas: ['b', 'a'] }),
      sharedFields.take({ namespace: 'n', factor: 2, replicas: ['a', 'b'] }),
      sharedFields.take({ namespace: 'n', factor: 1, replicas: ['a 1 b'] }),
      sharedFields.take({ namespace: 'n 1 a', factor: 1, replicas: ['b'] }),
      sharedFields.take({ namespace: 'n', factor: 1, replicas: [] }),
      sharedFields.take({ namespace: 'n', factor: 1, replicas: [''] }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('does not change when the list it was given does', () => {
    const sharedFields = new SharedFields();
    const replicas = ['a'];
    const id = sharedFields.take({ namespace: 'n', factor: 1, replicas });
    replicas.push('b');
    expect(sharedFields.get(id).replicas).toEqual(['a']);
  });
});
