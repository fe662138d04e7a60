/**
 * Files that an operator gives to a command: YAML or JSON, read as members read theirs, in time in proportion to their
 * length.
 */
import { parseYaml } from '@carillon/server';

/** Longer files are refused before they are read. */
export const fileBytesMax = 64 * 1024 * 1024;

/**
 * All forms of YAML up to here, half a second of the library at worst; longer files are JSON, or in the plain forms of
 * YAML.
 */
const libraryLengthMax = 64 * 1024;

/** Throws an error whose message is a sentence. */
export function parseYamlText(text: string): unknown {
  const partCountMax = fileBytesMax;
  return parseYaml(text, { lengthMax: fileBytesMax, libraryLengthMax, partCountMax });
}
