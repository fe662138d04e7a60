/**
 * A request whose body goes straight to its reader. node:http pushes what it has parsed into the request, which is a
 * stream; nobody here wants one, and leaving its machinery out saves about a tenth of what node:http costs a request.
 *
 * After `readInto` the reader gets every chunk, then `end`; when the connection breaks before, the request closes instead.
 * What nobody reads is dropped as it arrives.
 */
import { IncomingMessage } from 'node:http';

export interface BodyReader {
  chunk(bytes: Buffer): void;
  end(): void;
}

export class WholeRequest extends IncomingMessage {
  private reader: BodyReader | null = null;

  /** To be called in the turn in which the request arrives: its body comes right behind it. */
  readInto(reader: BodyReader): void {
    this.reader = reader;
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk === null) this.reader?.end();
    else this.reader?.chunk(chunk);
    return true;
  }

  /** Nothing ever waits in here to be let go. */
  override resume(): this {
    return this;
  }
}
