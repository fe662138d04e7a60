/**
 * A member that serves by TLS, as a real process: the command line and the client library use it, and its certificate
 * is replaced.
 */
import { copyFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  Certificates,
  hasOpenssl,
} from '../../packages/server/src/network/certificates.contract.ts';
import { CliProcess, serve, type ServedMember } from './cli-process.ts';

let files: Certificates;
const started: CliProcess[] = [];

beforeEach(() => {
  if (!hasOpenssl) return;
  files = new Certificates();
  files.authority('authority');
  files.issue('authority', 'first', 'DNS:first', 'IP:127.0.0.1');
  files.issue('authority', 'second', 'DNS:second', 'IP:127.0.0.1');
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.kill('SIGKILL')));
  if (hasOpenssl) files.remove();
});

function use(name: string): void {
  for (const end of ['crt', 'key'])
    copyFileSync(files.path(`${name}.${end}`), files.path(`api.${end}`));
}

async function member(): Promise<ServedMember> {
  const tls = ['--tls-certificate', files.path('api.crt'), '--tls-key', files.path('api.key')];
  const served = await serve(['--memory', ...tls]);
  started.push(served.process);
  return served;
}

/** Runs a command against the member, trusting the authority; resolves with its output. */
async function run({ url }: ServedMember, ...args: string[]): Promise<string> {
  const trust = { NODE_EXTRA_CA_CERTS: files.path('authority.crt') };
  const child = new CliProcess([...args, '--server', url], trust);
  const { code } = await child.ended;
  expect([code, child.errors]).toEqual([0, []]);
  return child.lines.join('\n');
}

/** The names in the certificate that a new connection is shown. */
function shownNames({ url }: ServedMember): Promise<string> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe.runIf(hasOpenssl)('TLS of a real member', () => {
  test('commands set, read and list by https; a client that does not trust the certificate gets nothing', async () => {
    use('first');
    const at = await member();
    expect(at.url).toMatch(/^https:/);
    const id = await run(at, 'set', '1h', 'http://127.0.0.1:9/');
    expect(await run(at, 'list')).toContain(id.trim());
    expect(await run(at, 'cluster', 'members', '--json')).toContain('"active"');
    await expect(fetch(`${at.url}/ping`)).rejects.toThrow('fetch failed');
  });

  test('a certificate that is replaced is used without a restart, a broken one is not', async () => {
    use('first');
    const at = await member();
    expect(await shownNames(at)).toContain('DNS:first');
    use('second');
    await expect.poll(() => shownNames(at), { timeout: 20_000 }).toContain('DNS:second');
    copyFileSync(files.path('first.key'), files.path('api.key'));
    at.process.signal('SIGHUP');
    await at.process.line(({ msg }) => /cannot be used; everything stays/.test(String(msg)));
    expect(await shownNames(at)).toContain('DNS:second');
    copyFileSync(files.path('first.crt'), files.path('api.crt'));
    at.process.signal('SIGHUP');
    await expect.poll(() => shownNames(at), { timeout: 20_000 }).toContain('DNS:first');
  });
});
