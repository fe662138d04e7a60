import { afterEach, expect, test, vi } from 'vitest';
import { system } from './system.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** As members take it for an idempotency key. */
const form = /^[0-9a-f-]{1,255}$/;

test('keys are unique and of a form that members take, also where the browser does not make them', () => {
  const usual = system.uuid();
  vi.stubGlobal('crypto', {
    getRandomValues: (words: Uint32Array<ArrayBuffer>) => globalCrypto.getRandomValues(words),
  });
  const own = Array.from({ length: 100 }, () => system.uuid());
  for (const key of [usual, ...own]) expect(key).toMatch(form);
  expect(new Set(own).size).toBe(own.length);
});

const globalCrypto = globalThis.crypto;
