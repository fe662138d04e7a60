/**
 * Where all callbacks arrive, in a process of its own: records for each how late it came, and whether it came twice.
 * It reads just enough HTTP by hand to be cheaper than any sender, so that the senders are measured.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { answerCalls } from '../support/remote.ts';
import { ArrivalNotes } from './arrival-notes.ts';
import type { Expected } from './arrivals.ts';
import { indexOf } from './setter.ts';

const answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const headEnd = '\r\n\r\n';

const notes = new ArrivalNotes();

const server = createServer(serve);
const listening = new Promise<string>((resolve) => {
  server.listen(0, '127.0.0.1', 4096, () => {
    resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/pop`);
  });
});

answerCalls({
  uri: () => listening,
  expect: (expected: Expected) => notes.expect(expected),
  arrived: () => notes.count,
  arrivals: () => notes.summary(),
});

function serve(socket: Socket): void {
  let received = '';
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => {});
  socket.on('data', (text: string) => {
    // Finer than the whole milliseconds of Date.now.
    const nowMs = performance.timeOrigin + performance.now();
    received += text;
    for (;;) {
      const taken = takeRequest(received, nowMs);
      if (taken === 0) return;
      received = received.slice(taken);
      socket.write(answer);
    }
  });
}

/** How many characters the first request has; 0 while it is not complete. */
function takeRequest(received: string, nowMs: number): number {
  const bodyStart = received.indexOf(headEnd) + headEnd.length;
  if (bodyStart < headEnd.length) return 0;
  const head = received.slice(0, bodyStart);
  const length = Number(/\r\ncontent-length: ?(\d+)/i.exec(head)?.[1] ?? 0);
  if (received.length < bodyStart + length) return 0;
  const body = received.slice(bodyStart, bodyStart + length);
  if (/\r\nx-timer-count:/i.test(head)) noteLines(body, nowMs);
  else {
    const dueMs = Date.parse(/\r\nx-timer-due: ?([^\r]+)/i.exec(head)?.[1] ?? '');
    notes.add(indexOf(body), dueMs, nowMs);
  }
  return bodyStart + length;
}

/** A batch: a line of JSON for each pop, and each line ended. */
function noteLines(body: string, nowMs: number): void {
  for (const line of body.split('\n').slice(0, -1)) {
    const { due, opaque } = JSON.parse(line) as { due: string; opaque: string };
    notes.add(indexOf(opaque), Date.parse(due), nowMs);
  }
}
