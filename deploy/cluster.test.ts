/**
 * The cluster that compose.yaml describes, without containers: its three members as processes on loopback addresses,
 * with exactly its variables, on a real etcd; and the command by which the chart drains a member before its pod ends.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon } from '@carillon/client';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { etcdForTests } from '../scripts/etcd.ts';
import { EtcdCluster } from '../scripts/etcd-cluster.ts';
import { CliProcess } from '../test/e2e/cli-process.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const etcd = etcdForTests();
/** All of 127.0.0.0/8 is this machine on Linux; elsewhere only one address of it. */
const hasAddresses = process.platform === 'linux';

type Variables = Readonly<Record<string, string>>;

/** The variables of each member, moved from the network of the containers to loopback and free of the usual ports. */
function environments(endpoint: string): ReadonlyMap<string, Variables> {
  const { services } = parseYaml(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, { environment?: Variables }>;
  };
  const port = 12_000 + (process.pid % 20_000);
  const placed = Object.entries(services).flatMap(([name, { environment }]) => {
    if (environment === undefined) return [];
    const pairs = Object.entries(environment).map(([variable, value]) => [
      variable,
      value
        .replace('http://172.30.53.10:2379', endpoint)
        .replace('172.30.53.', '127.30.53.')
        .replace(':7253', `:${port}`)
        .replace(':7353', `:${port + 1}`),
    ]);
    return [[name, Object.fromEntries(pairs) as Variables] as const];
  });
  return new Map(placed);
}

/** The chart's preStop command, with `carillon` being the one of this repository. */
async function preStop(variables: Variables, folder: string): Promise<number | null> {
  const [, script = ''] = /- (exec carillon cluster drain .*)$/m.exec(
    read('deploy/helm/carillon/templates/statefulset.yaml'),
  ) ?? [''];
  const command = join(folder, 'carillon');
  const main = join(root, 'packages/cli/src/main.ts');
  writeFileSync(
    command,
    `#!/bin/sh\nexec "${process.execPath}" --conditions=source "${main}" "$@"\n`,
  );
  chmodSync(command, 0o755);
  const env = { ...variables, PATH: `${folder}:${process.env['PATH']}` };
  const child = spawn('sh', ['-c', script.replace(/\{\{[^}]*\}\}/, '60')], {
    env,
    stdio: 'ignore',
  });
  return new Promise((resolve) => {
    child.once('exit', resolve);
  });
}

test.skipIf(etcd === null || !hasAddresses)(
  'three members find each other, and one that is drained leaves with all its timers handed on',
  async () => {
    if (etcd === null) return;
    const folder = mkdtempSync(join(tmpdir(), 'carillon-compose-'));
    const store = await EtcdCluster.start({ paths: etcd });
    const members: CliProcess[] = [];
    try {
      const all = environments(store.endpoints[0] ?? '');
      for (const [name, variables] of all) {
        const args = ['serve', '--json', '--data', join(folder, name), '--log-level', 'warn'];
        members.push(new CliProcess(args, variables));
      }
      const started = await Promise.all(members.map((one) => one.line((line) => 'url' in line)));
      const urls = started.map(({ url }) => String(url));
      const client = new Carillon({ members: urls, refresh: null });
      await viewOf(client, (phases) => phases === 'active active active');

      const uri = 'http://127.0.0.1:9/';
      const set = await client.setMany(Array.from({ length: 60 }, () => ({ in: '1h', uri })));
      expect(set.filter((one) => one.ok && one.copies?.have === 2)).toHaveLength(60);

      expect(await preStop(all.get('b') ?? {}, folder)).toBe(0);
      expect(await members[1]?.ended).toEqual({ code: 0, signal: null });
      const rest = new Carillon({ members: [urls[0] ?? '', urls[2] ?? ''], refresh: null });
      await viewOf(rest, (phases) => phases === 'active active');
      const holders: string[] = [];
      for await (const { replicas } of rest.list()) holders.push(replicas.toSorted().join());
      expect(holders).toEqual(Array.from({ length: 60 }, () => 'a,c'));
    } finally {
      await Promise.all(members.map((one) => one.kill('SIGTERM')));
      await store.stop();
      rmSync(folder, { recursive: true });
    }
  },
);

/**
 * Resolves when the member that answers sees such a view; the test's time limit ends a wait for one that never comes.
 */
async function viewOf(client: Carillon, fits: (phases: string) => boolean): Promise<void> {
  for (;;) {
    const { members } = await client.cluster();
    if (fits(members.map(({ phase }) => phase).join(' '))) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}
