import { afterEach, expect, test, vi } from 'vitest';
import { system } from './system.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('keys are unique and of the usual form, also where the browser does not make them', () => {
  const usual = system.uuid();
  vi.stubGlobal('crypto', {
    getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => globalCrypto.getRandomValues(bytes),
  });
  const own = Array.from({ length: 100 }, () => system.uuid());
  for (const key of [usual, ...own]) expect(key).toMatch(form);
  expect(new Set(own).size).toBe(own.length);
});

const globalCrypto = globalThis.crypto;
