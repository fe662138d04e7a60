/**
 * Since when a data folder is used without a gap: how far back the member remembers. An empty file carries it in its
 * name.
 */
import type { Disk } from '@carillon/core';

const prefix = 'born-';

export function isBornFile(name: string): boolean {
  return name.startsWith(prefix);
}

/** `anew`: the time before cannot be vouched for any more. Wall-clock milliseconds. */
export async function bornWallMs(disk: Disk, wallMs: number, anew: boolean): Promise<number> {
  const names = (await disk.list()).map(({ name }) => name).filter(isBornFile);
  const found = names.map((name) => Number(name.slice(prefix.length))).filter(Number.isFinite);
  const since = Math.max(...found);
  if (!anew && found.length > 0) return since;
  await (await disk.create(`${prefix}${wallMs}`)).close();
  for (const name of names) if (name !== `${prefix}${wallMs}`) await disk.remove(name);
  return wallMs;
}
