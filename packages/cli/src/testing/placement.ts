/** Support for tests of commands that read files and ask no member: `where` and `plan`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { recordingIo } from './world.ts';

/** A folder of its own. `file` writes a file there, and returns its path. */
export function testFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-placement-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  return { file, remove: () => rmSync(folder, { recursive: true }) };
}

export async function run(command: Command, ...args: string[]) {
  const io = recordingIo();
  const code = await command.run(args, io);
  return { code, out: io.outLines, err: io.errLines, json: () => JSON.parse(io.outLines[0] ?? '') };
}
