/**
 * Which number key a data folder is written with: an empty file carries the key's fingerprint in its name, zeros for no
 * key. Numbers in the journal follow from the key, so the first start on a folder decides for the life of the folder:
 * with another key a member would know the timers of all namespaces but `default` by wrong ids.
 */
import { readdir } from 'node:fs/promises';
import { type Disk, type Log, type Numbering, OpenNumbering } from '@carillon/core';
import { StartError } from '../access/start-rule.ts';
import type { Config } from '../config/config.ts';

export interface Settled {
  readonly numbering: Numbering;
  /** Whether the folder says so already. */
  readonly noted: boolean;
}

/** The names of the files in the data folder of a member that has not opened the folder yet. */
export async function dataFiles({ durability, data }: Config): Promise<readonly string[]> {
  if (durability !== 'disk') return [];
  return readdir(data).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** `names`: the files of the data folder. `given`: by the tokens file. Throws StartError. */
export function settleNumbering(names: readonly string[], given: Numbering, log: Log): Settled {
  const note = names.find((name) => name.startsWith(prefix));
  if (note === undefined) return { numbering: given, noted: false };
  if (note === noteOf(given)) return { numbering: given, noted: true };
  if (note === noteOf(new OpenNumbering())) {
    log.warn(
      'The "number-key" of the tokens file is not used: this data folder was written without one. docs/security.md says how to begin to use the key.',
      { event: 'number-key-unused' },
    );
    return { numbering: new OpenNumbering(), noted: true };
  }
  const has = given.fingerprint === 0 ? 'no "number-key"' : 'another "number-key"';
  throw new StartError(
    `The tokens file has ${has}: not the one that this data folder was written with, from which the numbers of its timers follow. ` +
      'Bring back the tokens file with the old key. If the key is lost for good, stop all members and remove the file ' +
      `${note} from their data folders: timers stay, but timers of other namespaces than default get other ids.`,
  );
}

export async function noteNumbering(disk: Disk, numbering: Numbering): Promise<void> {
  await (await disk.create(noteOf(numbering))).close();
}

const prefix = 'numbers-';

function noteOf({ fingerprint }: Numbering): string {
  return prefix + fingerprint.toString(16).padStart(8, '0');
}
