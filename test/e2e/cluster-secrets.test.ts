/**
 * Members that authenticate each other by a secret or by certificates: strangers stay outside, and both can be changed
 * under load.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { afterEach, describe, expect, test } from 'vitest';
import {
  Certificates,
  hasOpenssl,
} from '../../packages/server/src/network/certificates.contract.ts';
import { TcpNetwork } from '../../packages/server/src/network/tcp-network.ts';
import { type Credentials, noCredentials } from '../../packages/server/src/network/credentials.ts';
import { Handshake } from '../../packages/server/src/network/handshake.ts';
import { encodeMessages, protocol } from '../../packages/server/src/replication/wire/frame.ts';
import { momentOf } from '../../packages/server/src/replication/wire/parts.ts';
import type { RealMember } from './support/real-member.ts';
import { Story } from './support/story.ts';
import { until } from './support/until.ts';

const names = ['n0', 'n1', 'n2'];
const opened: { end(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.end();
}, 60_000);

const quiet = (): void => {};
const clock = new SystemClock();

/** Whether a caller with these credentials is answered as members are. */
async function isAnswered(address: string, credentials: Credentials): Promise<boolean> {
  const network = new TcpNetwork({
    clock,
    random: new SystemRandom(),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    listen: { host: '127.0.0.1', port: 0 },
    release: 'test',
    credentials,
  });
  const read = { type: 'read' as const, hi: 1, lo: 1 };
  const frame = encodeMessages(
    { from: 'observer', protocol: protocol.min, items: [read] },
    momentOf(clock),
  );
  const answer = await new Promise<Uint8Array | null>((resolve) => {
    network.call(address, frame, { limitMs: 3000 }, resolve);
  });
  await network.close();
  return answer !== null;
}

/** The bytes that come back to a client that sends these. */
function sent(address: string, bytes: Uint8Array | string): Promise<Buffer> {
  const [host = '', port] = address.split(':');
  const socket = connect(Number(port), host);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', quiet);
  socket.end(bytes);
  return new Promise((resolve) => socket.on('close', () => resolve(Buffer.concat(chunks))));
}

/** The first bytes of one member to another. */
function hello(): Buffer {
  const options = { protocols: { min: 1, max: 1 }, release: 'test', secrets: [] };
  const content = new Handshake(options, 'dialer', new Uint8Array(32)).start() ?? new Uint8Array();
  const head = Buffer.alloc(8);
  head.writeUInt32LE(content.length, 0);
  return Buffer.concat([head, content]);
}

/**
 * Requests that were confirmed by fewer members than they wanted. A machine that stood still explains any number of
 * them.
 */
function shortOfCopies(story: Story): number {
  if (story.court.stallMs > 500) return 0;
  return story.court.history.timers.filter(({ operations }) =>
    operations.some(({ ackMs, have, wanted }) => ackMs !== null && have < wanted),
  ).length;
}

const refused = (member: RealMember, reason = '.*'): Promise<number> =>
  member.metric(new RegExp(`^carillon_peers_refused_total\\{result="${reason}"\\}`));

test('the secret is changed under load: nothing is lost, no copy is missing, and the old one is worth nothing any more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-secrets-'));
  opened.push({ end: () => rmSync(folder, { recursive: true }) });
  const write = (name: string, lines: readonly string[]): void => {
    writeFileSync(join(folder, `${name}.new`), `${lines.join('\n')}\n`);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  };
  const [first, second] = ['1'.repeat(64), '2'.repeat(64)] as const;
  for (const name of names) write(name, [first]);
  const story = await Story.begin({
    names,
    flagsOf: (name) => ['--cluster-secret-file', join(folder, name)],
  });
  opened.push(story);
  const members = [...story.cluster.members.values()];
  story.load.start();
  await story.pass(1000, 1500);
  for (const secrets of [[first, second], [second, first], ['too short'], [second]]) {
    for (const member of members) {
      write(member.name, secrets);
      // One is told, the others notice by themselves.
      if (member.name === 'n0') member.reload();
      await story.pass(300, 500);
    }
  }
  await story.pass(1000, 1500);
  expect(await story.finish('secret changed')).toEqual([]);
  expect(shortOfCopies(story)).toBe(0);
  for (const member of members) {
    expect(await refused(member)).toBe(0);
    const secretsAnswered = await Promise.all(
      [[second], [first], ['x'.repeat(64)], []].map((secrets) =>
        isAnswered(member.peer, { secrets, tls: null }),
      ),
    );
    expect(secretsAnswered).toEqual([true, false, false, false]);
    expect(await refused(member, 'secret')).toBe(3);
  }
});

describe.skipIf(!hasOpenssl)('certificates', () => {
  test('members talk under TLS; no other process does, at neither port, and certificates are changed under load', async () => {
    const certificates = new Certificates();
    opened.push({ end: () => certificates.remove() });
    certificates.authority('ca');
    certificates.authority('other');
    for (const name of names) certificates.issue('ca', name, `DNS:${name}`);
    const story = await Story.begin({
      names,
      flagsOf: (name) => [
        `--peer-tls-certificate=${certificates.path(`${name}.crt`)}`,
        `--peer-tls-key=${certificates.path(`${name}.key`)}`,
        `--peer-tls-ca=${certificates.path('ca.crt')}`,
      ],
    });
    opened.push(story);
    story.load.start();
    await story.pass(1000, 1500);
    for (const name of names) {
      certificates.issue('ca', name, `DNS:${name}`);
      await story.pass(300, 500);
    }
    await story.pass(500, 1000);
    expect(await story.finish('certificates changed')).toEqual([]);
    expect(shortOfCopies(story)).toBe(0);

    const [member] = story.cluster.running as [RealMember];
    const { ca } = certificates.issue('ca', 'member', 'DNS:n1');
    const tls = (authority: string, name: string): Credentials => ({
      secrets: [],
      tls: { ...certificates.issue(authority, 'someone', `DNS:${name}`), ca },
    });
    expect(await isAnswered(member.peer, tls('ca', 'n1'))).toBe(true);
    expect(await isAnswered(member.peer, tls('ca', 'n3'))).toBe(false);
    expect(await refused(member, 'name')).toBe(1);
    expect(await isAnswered(member.peer, tls('other', 'n1'))).toBe(false);
    expect(await isAnswered(member.peer, noCredentials)).toBe(false);
    expect(await refused(member, 'certificate')).toBe(2);
  });
});

test('the door for members knows no HTTP, and the door for clients no members', async () => {
  const story = await Story.begin({ names: ['n0', 'n1'] });
  opened.push(story);
  const [member] = story.cluster.running as [RealMember];
  const request = 'GET /timers HTTP/1.1\r\nHost: x\r\n\r\n';
  expect(await sent(member.peer, request)).toHaveLength(0);
  expect(await sent(member.peer, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toHaveLength(0);
  await until('both are counted', 5000, async () => (await refused(member, 'malformed')) === 2);
  const address = member.url.slice('http://'.length);
  const answer = (await sent(address, hello())).toString('latin1');
  expect(answer).toMatch(/^(HTTP\/1\.1 400 |$)/);
  expect(await isAnswered(address, noCredentials)).toBe(false);
  expect(await isAnswered(member.peer, noCredentials)).toBe(true);
});
