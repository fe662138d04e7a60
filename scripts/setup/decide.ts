/** What to do about a program the tests need. Pure, so that every case can be tested. */

export const runtimeMajorMin = 24;

export interface Tool {
  readonly command: string;
  /** Arguments with which it starts, prints something and ends with 0. */
  readonly versionArguments: readonly string[];
  readonly debianPackage: string;
  readonly neededFor: string;
}

export const tools: readonly Tool[] = [
  {
    command: 'etcd',
    versionArguments: ['--version'],
    debianPackage: 'etcd-server',
    neededFor: 'the lock ring tests on a real etcd',
  },
];

export interface Situation {
  readonly found: boolean;
  readonly canInstall: boolean;
  readonly inCi: boolean;
}

/** `fail` only where nobody would notice a skipped test. */
export function decide({
  found,
  canInstall,
  inCi,
}: Situation): 'ready' | 'install' | 'skip' | 'fail' {
  if (found) return 'ready';
  if (canInstall) return 'install';
  return inCi ? 'fail' : 'skip';
}
