import { afterEach, expect, test, vi } from 'vitest';
import { system } from './system.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** As members take it for an idempotency key. */
const form = /^[0-9a-f-]{20,60}\.\d{1,3}$/;

test('keys are unique and of a form that members take, also where the browser does not make them', () => {
  const usual = system.uuid();
  vi.stubGlobal('crypto', {
    getRandomValues: (words: Uint32Array<ArrayBuffer>) => globalCrypto.getRandomValues(words),
  });
  const own = Array.from({ length: 1000 }, () => system.uuid());
  for (const key of [usual, ...own]) expect(key).toMatch(form);
  expect(new Set(own).size).toBe(own.length);
  const drawn = own.map((key) => key.slice(0, key.indexOf('.')));
  expect(new Set(drawn).size).toBeGreaterThan(own.length / 129);
});

const globalCrypto = globalThis.crypto;
