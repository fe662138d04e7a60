/**
 * The least that a server can do on sockets of Node: it counts the bytes of requests, all of one length, and answers
 * with prepared ones. Nothing is parsed, and nothing is kept but zeros in a file where `--sync` asks for that: all
 * requests that wait share one write and one sync, as in a journal.
 *
 *   node bare-server.ts REQUEST_BYTES ANSWER_BYTES [--sync FILE ENTRY_BYTES]
 *
 * REQUEST_BYTES 0: each request ends where the first one does, as its `content-length` says.
 */
import { fdatasync, fsyncSync, openSync, writeSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';

const [requestBytes = 0, answerBytes = 0] = process.argv.slice(2).map(Number);
const [file, entryBytes = '0'] =
  process.argv[4] === '--sync' ? process.argv.slice(5) : [undefined, undefined];

const emptyAnswer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const answer = answerBytes > 0 ? Buffer.alloc(answerBytes, 'a') : emptyAnswer;
const synced = file === undefined ? null : syncedFile(file, Number(entryBytes));

const server = createServer({ noDelay: true }, serve);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});

function serve(socket: Socket): void {
  let length = requestBytes;
  let received = 0;
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    if (length === 0) length = lengthOf(bytes.toString('latin1'));
    for (received += bytes.length; received >= length; received -= length) {
      if (synced === null) socket.write(answer);
      else synced(() => socket.write(answer));
    }
  });
}

function lengthOf(request: string): number {
  const bodyBytes = Number(/\r\ncontent-length: (\d+)/i.exec(request)?.[1] ?? 0);
  return request.indexOf('\r\n\r\n') + 4 + bodyBytes;
}

/** Writes over room that was written before, as the journal does. */
function syncedFile(name: string, bytes: number): (done: () => void) => void {
  const roomBytes = 64 * 2 ** 20;
  const fd = openSync(name, 'w');
  writeSync(fd, Buffer.alloc(roomBytes), 0, roomBytes, 0);
  fsyncSync(fd);
  let waiting: (() => void)[] = [];
  let isSyncing = false;
  let at = 0;
  const flush = (): void => {
    const group = waiting;
    waiting = [];
    isSyncing = group.length > 0;
    if (!isSyncing) return;
    const entries = Buffer.alloc(bytes * group.length);
    at = at + entries.length > roomBytes ? 0 : at;
    at += writeSync(fd, entries, 0, entries.length, at);
    fdatasync(fd, () => {
      for (const done of group) done();
      flush();
    });
  };
  return (done) => {
    if (waiting.push(done) === 1 && !isSyncing) setImmediate(flush);
  };
}
