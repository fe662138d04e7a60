/**
 * The examples of the documents are run: their TypeScript against a real member (and etcd), their commands, and the
 * cluster of the README.
 */
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../packages/cli/src/commands.ts';
import { CliProcess, serve, type ServedMember } from '../test/e2e/cli-process.ts';
import { etcdForTests } from './etcd.ts';
import { EtcdCluster } from './etcd-cluster.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = globSync(['*.md', 'docs/*.md', 'packages/*/README.md', 'deploy/*.md'], { cwd: root });
const etcd = etcdForTests();

function blocksOf(page: string, kind: string): string[] {
  return [...read(page).matchAll(/^```(\w+)\n(.*?)^```/gms)]
    .filter(([, found]) => found === kind)
    .map(([, , block = '']) => block);
}

/** Below the root, so that packages resolve; hidden, so that no tool takes it for a source. */
const folder = join(root, '.cache', 'snippets');
let member: ServedMember;
let store: EtcdCluster | null = null;
const started: CliProcess[] = [];

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  member = await serve(['--memory', '--log-level', 'warn']);
  started.push(member.process);
  if (etcd !== null) store = await EtcdCluster.start({ paths: etcd });
}, 60_000);
afterAll(async () => {
  await Promise.all(started.splice(0).map((one) => one.kill('SIGTERM')));
  await store?.stop();
  rmSync(folder, { recursive: true });
}, 60_000);

/** Runs a snippet as a file of its own, with the addresses of the processes of this test, and returns its output. */
async function run(code: string): Promise<string> {
  const file = join(mkdtempSync(join(folder, 'x-')), 'snippet.ts');
  // The names that a page takes from the text around its snippet.
  const around = 'const signal = AbortSignal.timeout(30_000);\n';
  const placed = code
    .replaceAll('http://127.0.0.1:7253', member.url)
    .replaceAll('http://127.0.0.1:2379', store?.endpoints[0] ?? '')
    .replaceAll("'./examples/", "'../../../examples/");
  writeFileSync(file, (code.includes('signal') ? around : '') + placed);
  const given = ['--conditions=source', '--no-warnings', file];
  return (await promisify(execFile)(process.execPath, given, { timeout: 50_000 })).stdout;
}

const snippets = pages.flatMap((page) =>
  blocksOf(page, 'ts').map((code, i) => ({ title: `${page} ${i + 1}`, code })),
);

describe('TypeScript', () => {
  /** The last output of snippets whose output is their point. */
  const expected: Readonly<Record<string, RegExp>> = {
    'README.md 1': /hello from TypeScript, pop 3\n$/,
    'docs/placement.md 2':
      /^\[ 'b\/r1\/d1', 'a\/r1\/d2' \] true\n6655 of 20000 copies move, at least 6655 have to\n$/,
    'docs/testing.md 1': /^\[ 'order 17' \]\n$/,
    'packages/placement/README.md 1':
      /^customer\/ada is on db-\d, then on db-\d\n(a\/db-\d and b|b\/db-\d and a)\/db-\d\n$/,
    'packages/ring/README.md 1': /^exporting under token \d+\n$/,
  };

  test('the documents show some', () => {
    const titles = snippets.map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(Object.keys(expected)));
  });

  for (const { title, code } of snippets) {
    const isOutOfReach = code.includes(':2379') && etcd === null;
    test.skipIf(isOutOfReach)(`${title} runs`, { concurrent: true }, async () => {
      expect(await run(code)).toMatch(expected[title] ?? /^/);
    });
  }
});

describe('commands', () => {
  const shown = pages.flatMap((page) => blocksOf(page, 'sh').map((block) => ({ page, block })));

  test('every command of carillon that is shown exists', () => {
    const named = shown.flatMap(({ block }) =>
      [...block.matchAll(/^(?:npx )?carillon ([a-z-]+)/gm)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !commands.some((known) => known.name === name))).toEqual([]);
  });

  test.concurrent('the timer of the README pops at `carillon listen`', async () => {
    const listening = new CliProcess(['listen', '--port', '0', '--json', '--count', '1']);
    started.push(listening);
    const { listening: url } = await listening.line((line) => 'listening' in line);
    const block = blocksOf('README.md', 'sh').find((one) => one.includes('curl')) ?? '';
    const [, body = ''] = /-d '([^']*)'/.exec(block) ?? [];
    const [, path = ''] = /curl -i http:\/\/127\.0\.0\.1:7253(\S+)/.exec(block) ?? [];
    const placed = body.replace('http://127.0.0.1:8080', String(url));
    const answer = await fetch(member.url + path, { method: 'POST', body: placed });
    expect(answer.status).toBe(200);
    expect(await listening.line((line) => 'opaque' in line)).toMatchObject({
      opaque: 'hello',
      sequence: 1,
    });
  });

  test.concurrent('the three commands of the README make a cluster that says that all is well', async () => {
    const block = blocksOf('README.md', 'sh').find((one) => one.includes('--name a')) ?? '';
    const lines = block.trim().split('\n');
    expect(lines).toHaveLength(3);
    const scratch = mkdtempSync(join(tmpdir(), 'carillon-readme-'));
    const ports = await freePorts(6);
    const file = join(scratch, 'members.yaml');
    const there = [7253, 7254, 7255, 7353, 7354, 7355];
    const placed = there.reduce(
      (text, port, i) => text.replaceAll(`:${port}"`, `:${ports[i]}"`),
      read('examples/members.yaml'),
    );
    writeFileSync(file, placed);
    try {
      const members = lines.map((line) => {
        const args = line
          .replace('npx carillon ', '')
          .replace('examples/members.yaml', file)
          .replace('carillon-data', scratch)
          .split(' ');
        const one = new CliProcess([...args, '--json', '--log-level', 'error']);
        started.push(one);
        return one;
      });
      await Promise.all(members.map((one) => one.line((line) => 'url' in line)));
      expect(await allIsWell(`http://127.0.0.1:${ports[0]}`)).toBe(true);
      await Promise.all(members.map((one) => one.kill('SIGTERM')));
    } finally {
      rmSync(scratch, { recursive: true });
    }
  });
});

/** Members need a moment to hear of each other; a cluster that never gets there is cut by the test's time limit. */
async function allIsWell(server: string): Promise<boolean> {
  for (;;) {
    const look = new CliProcess(['cluster', 'status', '--server', server]);
    const { code } = await look.ended;
    if (code === 0) return look.lines.some((line) => line.includes('All is well'));
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
