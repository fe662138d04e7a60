/**
 * The tokens file, changed as a whole: written beside itself and put in its place, so that a member sees the old one or
 * the new one and never half of it. Two commands at once do not lose each other's change: one of them is told to try
 * again.
 */
import { randomBytes } from 'node:crypto';
import { chown, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '@carillon/core/system';
import {
  newNumberKey,
  parseTokens,
  renderTokens,
  type Token,
  type TokensFile,
} from '@carillon/server';

/** null: there is no such file. Throws TokensFileError. */
export async function readTokens(file: string): Promise<TokensFile | null> {
  try {
    return parseTokens(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Replaces the tokens by the result of `change`. A new file gets a number key; an existing file keeps its key, also
 * none: the numbers of timers that its members hold follow from that.
 */
export async function changeTokens(
  file: string,
  change: (tokens: readonly Token[]) => readonly Token[],
): Promise<void> {
  makeFolder(dirname(file));
  const part = `${file}.part`;
  const handle = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    const says = `${part} is there: another command changes the tokens. If none does, remove it and try again.`;
    throw new Error(says, { cause: error });
  });
  try {
    const old = (await readTokens(file)) ?? { tokens: [], numberKey: newNumberKey(randomBytes) };
    await handle.writeFile(renderTokens({ ...old, tokens: change(old.tokens) }));
    await handle.sync();
    await giveTo(part, file);
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/**
 * A file that root writes must be readable for the user of the member: it gets the owner of the file it replaces, or
 * else of its folder.
 */
async function giveTo(part: string, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(file).catch(() => stat(dirname(file)));
  await chown(part, owner.uid, owner.gid);
}
