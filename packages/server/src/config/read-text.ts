/** Reads a file of an operator, unless it is so long that it cannot be one. */
import { readFile, stat } from 'node:fs/promises';

/** The longest, one of ten thousand tokens, has less. Decoding this much takes milliseconds. */
const bytesMax = 8 * 1024 * 1024;

/** Rejects with the error of the file system, or with a sentence. */
export async function readText(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > bytesMax) throw new Error(`It has ${size} bytes; ${bytesMax} are the most.`);
  return await readFile(file, 'utf8');
}
