import { describe, expect, it } from 'vitest';
import { CarillonError, type ErrorCode, invariant } from './errors.ts';

/** Every code with its status and whether to try again. */
const codes: Record<ErrorCode, [status: number, retry: boolean]> = {
  bad_request: [400, false],
  unauthorized: [401, false],
  forbidden: [403, false],
  not_found: [404, false],
  method_not_allowed: [405, false],
  too_slow: [408, false],
  conflict: [409, false],
  too_large: [413, false],
  target_too_long: [414, false],
  unsupported_media: [415, false],
  expectation_failed: [417, false],
  key_reused: [422, false],
  too_many: [429, true],
  headers_too_large: [431, false],
  overloaded: [503, true],
  no_copies: [503, true],
  stopping: [503, true],
  disk_full: [507, true],
};

describe('CarillonError', () => {
  it.each(Object.entries(codes))('%s: %j', (code, [status, retry]) => {
    const error = new CarillonError(code as ErrorCode, 'What was wrong.');
    expect(error).toMatchObject({ name: 'CarillonError', code, status, retry, pointer: null });
    expect(error.message).toBe('What was wrong.');
    expect(error.title).toMatch(/^[A-Z].*[^.]$/);
  });

  it('keeps pointer and cause', () => {
    const cause = new Error('below');
    const error = new CarillonError('bad_request', 'x', { pointer: '/timing', cause });
    expect([error.pointer, error.cause]).toEqual(['/timing', cause]);
  });
});

describe('invariant', () => {
  it('does nothing while it holds, and names the broken condition', () => {
    expect(() => invariant(true, 'never said')).not.toThrow();
    expect(() => invariant(false, 'one is two')).toThrow('Broken invariant: one is two');
  });

  it('is not an error a caller may react to', () => {
    try {
      invariant(false, 'x');
    } catch (error) {
      expect(error).not.toBeInstanceOf(CarillonError);
    }
    expect.assertions(1);
  });
});
