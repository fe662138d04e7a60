/** Collectors that answer badly. */
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import type { OtlpAnswer } from '../telemetry/exporter.ts';
import { systemOtlp } from './system-otlp.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** A collector that answers with a beginning, and then with the same text again and again until it is cut off. */
async function endless(beginning: string, text: string): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    const write = (): void => {
      while (!socket.destroyed && socket.write(text));
    };
    socket.once('data', () => {
      socket.write(beginning);
      socket.on('drain', write);
      write();
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  return `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`;
}

async function post(endpoint: string): Promise<OtlpAnswer> {
  const otlp = systemOtlp({ ...defaultConfig.telemetry, endpoint });
  try {
    return await new Promise((resolve) => otlp?.post('/v1/traces', '{}', resolve));
  } finally {
    otlp?.close();
  }
}

const chunk = `ffff\r\n${'y'.repeat(0xffff)}\r\n`;

test.each([
  {
    what: 'a body without end',
    beginning: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    text: chunk,
    answer: { status: 200, reason: 'The collector answered 200.' },
  },
  {
    what: 'interim answers without end',
    beginning: '',
    text: 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(100),
    answer: { status: 0, reason: 'The collector sends no answer but 1xx.' },
  },
  {
    what: 'headers without end',
    beginning: 'HTTP/1.1 200 OK\r\n',
    text: 'a: b\r\n'.repeat(1000),
    answer: { status: 0, reason: expect.stringContaining('overflow') as string },
  },
])(
  'a collector that sends $what is cut off, long before the limit of time',
  async (sent) => {
    const endpoint = await endless(sent.beginning, sent.text);
    expect(await post(endpoint)).toEqual(sent.answer);
  },
  8000,
);
