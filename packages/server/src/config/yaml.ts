/** Reads YAML, of which JSON is a part. */
import { parse } from 'yaml';

/**
 * Throws the library's error. The library makes an error for each fault of a text before it throws the first one, and recording a stack
 * trace for each was most of the work: 40 ms for 4 KiB of open brackets.
 */
export function parseYaml(
  text: string,
  options: { readonly maxAliasCount?: number } = {},
): unknown {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parse(text, options);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
