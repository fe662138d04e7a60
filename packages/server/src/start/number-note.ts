/**
 * Which number key a data folder was written with: an empty file carries the key's fingerprint in its name. Numbers in the
 * journal follow from the key, so a member with another one would know the timers of all namespaces but `default` by wrong ids.
 */
import type { Disk } from '@carillon/core';
import { StartError } from '../access/start-rule.ts';

const prefix = 'numbers-';

/** Whether the folder says so already. `fingerprint`: 0 without a key. Rejects with StartError when it says another key. */
export async function isNumberingNoted(disk: Disk, fingerprint: number): Promise<boolean> {
  const names = (await disk.list()).map(({ name }) => name);
  const noted = names.find((name) => name.startsWith(prefix));
  if (noted === undefined) return fingerprint === 0;
  if (noted === noteOf(fingerprint)) return true;
  const has = fingerprint === 0 ? 'no "number-key"' : 'another "number-key"';
  throw new StartError(
    `The tokens file has ${has}: not the one that this data folder was written with, from which the numbers of its timers follow. ` +
      'Bring back the tokens file with the old key. If the key is lost for good, stop all members and remove the file ' +
      `${noted} from their data folders: timers stay, but those of other namespaces than default get other ids.`,
  );
}

export async function noteNumbering(disk: Disk, fingerprint: number): Promise<void> {
  await (await disk.create(noteOf(fingerprint))).close();
}

function noteOf(fingerprint: number): string {
  return prefix + fingerprint.toString(16).padStart(8, '0');
}
