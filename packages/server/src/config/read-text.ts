/** Reads a file that an operator wrote: configuration, members, tokens. One over 8 MiB is refused unread. */
import { readFile, stat } from 'node:fs/promises';

/** The longest useful file, with ten thousand tokens, is shorter. Decoding this many bytes takes milliseconds. */
const bytesMax = 8 * 1024 * 1024;

/** Rejects with the error of the file system, or with a sentence. */
export async function readText(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > bytesMax) throw new Error(`It has ${size} bytes; ${bytesMax} are the most.`);
  return await readFile(file, 'utf8');
}
