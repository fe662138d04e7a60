/**
 * The tokens file, changed as a whole: written beside itself and put in its place, so that a member sees the old one or the new one
 * and never half of it. Two commands at once do not lose each other's change: one of them is told to try again.
 */
import { chown, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseTokens, renderTokens, type Token } from '@carillon/server';

/** Those of a file that is not there are none. Throws TokensFileError. */
export async function readTokens(file: string): Promise<readonly Token[]> {
  try {
    return parseTokens(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Replaces the tokens by what `change` makes of them; resolves with those. */
export async function changeTokens(
  file: string,
  change: (tokens: readonly Token[]) => readonly Token[],
): Promise<readonly Token[]> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.part`;
  const handle = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    const says = `${part} is there: another command changes the tokens. If none does, remove it and try again.`;
    throw new Error(says, { cause: error });
  });
  try {
    const tokens = change(await readTokens(file));
    await handle.writeFile(renderTokens(tokens));
    await handle.sync();
    await giveTo(part, file);
    await rename(part, file);
    return tokens;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** What root writes must be readable for the user that the member runs as: whoever has the file it replaces, or else its folder. */
async function giveTo(part: string, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(file).catch(() => stat(dirname(file)));
  await chown(part, owner.uid, owner.gid);
}
