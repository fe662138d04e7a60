/**
 * The two details of finding 11 that one request cannot show: words that depend on cuts, and descriptors of TLS clients
 * that leave.
 */
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  Certificates,
  hasOpenssl,
} from '../../../packages/server/src/network/certificates.contract.ts';
import { serve } from '../../e2e/cli-process.ts';

const leavingCount = 20;
const refused = [
  'POST /timers HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5x\r\n\r\n',
  'GET /timers HTTP/1.1\r\nhost: 127.0.0.1\r\na b: c\r\n\r\n',
  'GET /timers HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: gzip\r\n\r\n',
];

/** Whether a refusal has the same words wherever its request is cut in two. */
export async function saysTheSame(port: number): Promise<boolean> {
  for (const text of refused) {
    const words = new Set<string>();
    for (let cut = 1; cut < text.length; cut += 3) words.add(await said(port, text, cut));
    if (words.size !== 1) return false;
  }
  return true;
}

/** The body of the answer to a text that is sent in two pieces. */
function said(port: number, text: string, cut: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let all = '';
    socket.on('data', (bytes: Buffer) => {
      all += bytes.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(all.slice(all.indexOf('\r\n\r\n'))));
    socket.write(text.slice(0, cut));
    setImmediate(() => setTimeout(() => socket.write(text.slice(cut)), 1));
  });
}

/** Whether TLS clients that leave before their connection is secure hold no descriptor of the member. */
export async function forgetsLeavers(): Promise<boolean> {
  if (!hasOpenssl) throw new Error('openssl is needed to make a certificate.');
  const files = new Certificates();
  files.authority('authority');
  files.issue('authority', 'one', 'IP:127.0.0.1');
  const tls = ['--tls-certificate', files.path('one.crt'), '--tls-key', files.path('one.key')];
  const one = await serve(['--name', 'one', '--memory', '--log-level', 'error', ...tls]);
  try {
    const open = (): number => readdirSync(`/proc/${one.process.pid}/fd`).length;
    const before = open();
    const port = Number(new URL(one.url).port);
    await Promise.all(Array.from({ length: leavingCount }, () => leave(port)));
    // Far less than the time limit of a handshake.
    for (let i = 0; i < 30 && open() > before + 2; i++) await wait(100);
    return open() <= before + 2;
  } finally {
    await one.process.kill('SIGKILL');
    files.remove();
  }
}

/** Begins a handshake and goes. */
function leave(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.end(Buffer.from('160301020001', 'hex'));
      socket.resume();
      resolve();
    });
    socket.on('error', () => resolve());
  });
}
