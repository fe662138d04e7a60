import { describe, expect, test } from 'vitest';
import { listening } from '../listening.contract.ts';
import { BodyRoom, type Sender } from './body-room.ts';

const stranger = (remote: string): Sender => ({ remote, admitted: false });
const admitted = (remote: string): Sender => ({ remote, admitted: true });

describe('room for bodies', () => {
  test('strangers from everywhere get half of it, from one address a quarter', () => {
    const room = new BodyRoom(1000);
    room.keep(1, stranger('a'));
    expect([room.fits(249, stranger('a')), room.fits(250, stranger('a'))]).toEqual([true, false]);
    room.keep(249, stranger('a'));
    room.keep(250, stranger('b'));
    expect([room.fits(1, stranger('c')), room.fits(500, admitted('c'))]).toEqual([false, true]);
    room.keep(-250, stranger('a'));
    expect(room.fits(250, stranger('c'))).toBe(true);
  });

  test('one address gets three quarters of it, and more where it has nothing else', () => {
    const room = new BodyRoom(1000);
    expect(room.fits(1000, admitted('a'))).toBe(true);
    room.keep(700, admitted('a'));
    expect([room.fits(50, admitted('a')), room.fits(51, admitted('a'))]).toEqual([true, false]);
    expect([room.fits(300, admitted('b')), room.fits(301, admitted('b'))]).toEqual([true, false]);
    room.keep(-700, admitted('a'));
    expect(room.fits(1000, admitted('a'))).toBe(true);
  });

  test('addresses of one IPv6 network are one', () => {
    const room = new BodyRoom(1000);
    room.keep(700, admitted('2001:db8::1'));
    expect(room.fits(51, admitted('2001:db8::2'))).toBe(false);
    expect(room.fits(51, admitted('2001:db8:1::2'))).toBe(true);
  });
});

const body = JSON.stringify({ timing: { interval: 1 }, callback: { http: { uri: 'http://r/' } } });

test.each([
  ['a path that does not exist', 'POST /nowhere', 404],
  ['a method that is not allowed', 'POST /timers/1', 405],
  ['a path that wants none', 'GET /timers', 413],
  ['a path that is open to everybody', 'GET /ping', 413],
])('a body to %s is refused before it is sent, and takes no room', async (_, asked, status) => {
  const MiB = 1024 * 1024;
  await using at = await listening({ 'limits.bufferedBytesMax': MiB });
  const clients = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const client = await at.dial();
      client.send(`${asked} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 200000\r\n\r\n`);
      client.send('x'.repeat(190_000));
      return client;
    }),
  );
  const set = await fetch(`${at.url}/timers`, { method: 'POST', body });
  expect(set.status).toBe(200);
  await Promise.all(clients.map((client) => client.closed));
  expect(clients.map((client) => client.statuses)).toEqual(clients.map(() => [status]));
});

test('a small body that nothing wants, and that is there, is read over', async () => {
  await using at = await listening();
  const client = await at.dial();
  const head = 'HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}';
  client.send(`GET /ping ${head}DELETE /timers/1 ${head}POST /nowhere ${head}GET /ping ${head}`);
  await client.until(/(HTTP\/1\.1 .*){4}/s);
  expect(client.statuses).toEqual([200, 404, 404, 200]);
  client.socket.destroy();
});
