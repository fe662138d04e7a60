/** Damages entries in the journal of a member that is down. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  decodeHeader,
  entryHeadBytes,
} from '../../../packages/server/src/store/journal/files/segment.ts';

/**
 * Flips a bit in so many entries, spread over the whole journal but for its last entry. Answers how many there were.
 */
export function damageEntries(folder: string, count: number): number {
  const files = readdirSync(folder).filter((name) => name.startsWith('journal-'));
  const places = files.flatMap((file) => entriesOf(join(folder, file)));
  const some = places.slice(0, -1);
  for (let i = 0; i < count; i++) {
    const { path, offset, length } = some[Math.floor((i * some.length) / count)] as Place;
    const bytes = readFileSync(path);
    const at = offset + Math.floor(length / 2);
    bytes[at] = (bytes[at] as number) ^ 0x04;
    writeFileSync(path, bytes);
  }
  return places.length;
}

interface Place {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

function entriesOf(path: string): Place[] {
  const bytes = readFileSync(path);
  const places: Place[] = [];
  for (let offset = decodeHeader(bytes).length; offset + entryHeadBytes < bytes.length; ) {
    const length = entryHeadBytes + bytes.readUInt32LE(offset + 4);
    // Room that was taken ahead.
    if (length === entryHeadBytes) break;
    places.push({ path, offset, length });
    offset += length;
  }
  return places;
}
