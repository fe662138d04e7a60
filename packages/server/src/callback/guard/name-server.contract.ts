/** A name server on loopback for tests: answers as the test says, each time anew, and remembers the questions. */
import { createSocket, type Socket } from 'node:dgram';

/** The addresses behind a name at this moment. */
export type Zone = (name: string, type: 'A' | 'AAAA') => readonly string[];

const types: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const headBytes = 12;

export class NameServer {
  /** `A name` or `AAAA name`, in order. */
  readonly questions: string[] = [];
  zone: Zone;
  private readonly socket: Socket = createSocket('udp4');

  private constructor(zone: Zone) {
    this.zone = zone;
    this.socket.on('message', (query, from) => {
      this.socket.send(this.answer(query), from.port, from.address);
    });
  }

  static async start(zone: Zone): Promise<NameServer> {
    const server = new NameServer(zone);
    await new Promise<void>((resolve) => server.socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.socket.close(() => resolve()));
  }

  private answer(query: Buffer): Buffer {
    const { name, end } = nameAt(query, headBytes);
    const type = types[query.readUInt16BE(end)];
    const addresses = type === undefined ? [] : this.zone(name, type);
    if (type !== undefined) this.questions.push(`${type} ${name}`);
    const head = Buffer.alloc(headBytes);
    query.copy(head, 0, 0, 2);
    // An answer with recursion, without an error: one question, so many answers.
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const question = query.subarray(headBytes, end + 4);
    return Buffer.concat([head, question, ...addresses.map((one) => recordOf(one))]);
  }
}

function nameAt(query: Buffer, from: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = from;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** With a time to live of 0: to be asked for anew each time. Texts are IPv4, or all eight groups of IPv6. */
function recordOf(address: string): Buffer {
  const isFour = address.includes('.');
  const data = isFour
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(address.split(':').flatMap((group) => split16(Number.parseInt(group, 16))));
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc0_0c, 0);
  record.writeUInt16BE(isFour ? 1 : 28, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

function split16(group: number): [number, number] {
  return [group >> 8, group & 255];
}
