/** A stream of bytes → its lines, none of them longer than a limit. */

export interface Line {
  /** From 1. */
  readonly number: number;
  /** null: longer than the limit. */
  readonly text: string | null;
  /** Bytes read so far. */
  readonly bytes: number;
}

/** Empty lines are counted, and left out. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  lengthMax: number,
): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let number = 0;
  let rest = '';
  let tooLong = false;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      number++;
      if (tooLong || part.length > lengthMax) yield { number, text: null, bytes };
      else if (part.trim() !== '') yield { number, text: part, bytes };
      tooLong = false;
    }
    if (rest.length > lengthMax) {
      tooLong = true;
      rest = '';
    }
  }
  rest += decoder.decode();
  if (tooLong) yield { number: number + 1, text: null, bytes };
  else if (rest.trim() !== '') yield { number: number + 1, text: rest, bytes };
}
