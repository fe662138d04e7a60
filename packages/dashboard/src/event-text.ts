/**
 * Parses server-sent events from text that arrives in pieces of any size. Only the parts that `/events` uses: names and
 * data.
 */

export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** An event that is longer than this is none of ours. */
const lengthMax = 8 * 1024 * 1024;

export class EventText {
  private rest = '';

  /** The events that are complete with this piece. Throws when one does not end. */
  push(piece: string): ServerEvent[] {
    const blocks = (this.rest + piece).split('\n\n');
    this.rest = blocks.pop() ?? '';
    if (this.rest.length > lengthMax) throw new Error('An event of the member does not end.');
    return blocks.map(eventOf).filter((event) => event !== null);
  }
}

function eventOf(block: string): ServerEvent | null {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice('event: '.length);
    else if (line.startsWith('data: ')) data.push(line.slice('data: '.length));
  }
  return data.length === 0 ? null : { name, data: data.join('\n') };
}
