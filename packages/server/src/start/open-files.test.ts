import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { connectionsWithin, openFilesMax, tooFewFiles } from './open-files.ts';
import { machineAddresses } from '../callback/guard/guard.ts';
import { residentBytes } from './system-heap.ts';

const limits = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft}                 4096                 files\n`;

describe('files that may be open', () => {
  it('reads the limit of this process, where the system says it', () => {
    expect(openFilesMax(() => limits('256'))).toBe(256);
    expect(openFilesMax(() => limits('unlimited'))).toBeNull();
    expect(openFilesMax(() => '')).toBeNull();
    expect(
      openFilesMax(() => {
        throw new Error('no /proc');
      }),
    ).toBeNull();
  });

  it('says so when there are fewer than the limits ask for', () => {
    const { connectionCountMax } = defaultConfig.limits;
    const needed = connectionCountMax + defaultConfig.callbacks.inFlightMax + 200;
    expect(tooFewFiles(needed, defaultConfig)).toBeNull();
    expect(tooFewFiles(null, defaultConfig)).toBeNull();
    expect(tooFewFiles(needed - 1, defaultConfig)).toContain('RLIMIT_NOFILE');
  });

  it('leaves files for the disk, callbacks and peers', () => {
    expect(connectionsWithin(null, defaultConfig)).toBe(10_000);
    expect(connectionsWithin(256, defaultConfig)).toBe(128);
    expect(connectionsWithin(4096, defaultConfig)).toBe(4096 - 512 - 200);
    expect(connectionsWithin(1e6, defaultConfig)).toBe(10_000);
  });
});

describe('resident memory', () => {
  it('is that of before while no descriptor is free to ask', () => {
    expect(residentBytes(() => 5)).toBe(5);
    const kept = residentBytes(() => {
      throw new Error('EMFILE');
    });
    expect(kept).toBe(5);
  });
});

describe('addresses of this machine', () => {
  it('stay as they were while no descriptor is free to ask', () => {
    const one = [{ address: '10.0.0.7' }] as never;
    expect(machineAddresses(() => ({ eth0: one }))).toEqual(['10.0.0.7']);
    const kept = machineAddresses(() => {
      throw new Error('EMFILE');
    });
    expect(kept).toEqual(['10.0.0.7']);
  });
});
