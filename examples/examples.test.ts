/**
 * Every example runs to its end, as a process of its own beside a real member, and prints the output that it announces.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdForTests } from '../scripts/etcd.ts';
import { EtcdCluster } from '../scripts/etcd-cluster.ts';
import { serve, type ServedMember } from '../test/e2e/cli-process.ts';

const folder = import.meta.dirname;
const etcd = etcdForTests();

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
let member: ServedMember;
beforeAll(async () => {
  // A receiver that does not check signatures takes no notice of them.
  const signing = ['--callbacks-signing-secrets', secret];
  member = await serve(['--memory', '--log-level', 'warn', ...signing]);
}, 60_000);
afterAll(async () => {
  await member.process.kill('SIGTERM');
});

/** The lines an example prints. Rejects when it fails or does not end. */
async function run(name: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=source', '--no-warnings', join(folder, name)],
    {
      encoding: 'utf8',
      timeout: 50_000,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        CARILLON_SERVER: member.url,
        CARILLON_SECRET: secret,
        ...env,
      },
    },
  );
  return stdout.trim().split('\n');
}

const stories: Readonly<Record<string, readonly string[]>> = {
  'receiver-http.ts': ['pop 1 of "hello"'],
  'receiver-express.ts': ['Express: pop 1 of order 17'],
  'receiver-fastify.ts': ['Fastify: pop 1 of order 17'],
  'receiver-hono.ts': ['Hono: pop 1 of order 17'],
  'receiver-next.ts': ['Next: pop 1 of order 17'],
  'receiver-fetch.ts': ['handled: order 17', 'answered: 200, 200, 401'],
  'session-timeout.ts': [
    'activity: /basket',
    'activity: /address',
    'activity: /payment',
    'ended: session of ada',
    'the whole time-out after the last activity',
  ],
  'retry-reminder.ts': [
    'invoice 1 is paid',
    'invoice 2: the mail server is down',
    'reminder sent for invoice 2, attempt 2',
  ],
  'billing-tick.ts': [
    'customer 1 is billed at 06:00:00 in Vienna',
    'customer 2 is billed for 3 months',
    'timers cancelled: 1',
  ],
  'take-over.ts': ['A is gone (SIGKILL)', 'B ends the call of ada and grace, begun by A'],
  'place-keys.ts': [
    'customer/ada: eu/b/db-3, eu/a/db-2, eu/b/db-1',
    'customer/grace: eu/b/db-2, eu/a/db-3, eu/b/db-3',
    'a zone more moves 33.3 % of the copies; the least for these loads is 33.3 %',
    'between targets that were there before: 0.0 %',
  ],
  'locate-a-row.ts': [
    'r0/z0/n10/d15, namespace 4, queue 45',
    'r0/z1/n15/d10, namespace 5, queue 48',
    'r0/z0/n15/d13, namespace 4, queue 45',
    'r0/z1/n8/d6, namespace 5, queue 48',
    'r0/z0/n25/d11, namespace 4, queue 45',
    'r0/z1/n27/d8, namespace 5, queue 48',
  ],
  'grow-by-a-zone.ts': [
    'r0 z0 n10 d15, namespace 4, queue 45',
    'r0 z1 n15 d10, namespace 5, queue 48',
    'r0 z0 n15 d13, namespace 4, queue 45',
    'r0 z1 n8 d6, namespace 5, queue 48',
    'r0 z0 n25 d11, namespace 4, queue 45',
    'r0 z1 n27 d8, namespace 5, queue 48',
    'rollout 0: z0 ############### z1 ############### z2',
    'rollout 0.25: z0 ############## z1 ############## z2 ###',
    'rollout 0.5: z0 ############ z1 ############ z2 #####',
    'rollout 0.75: z0 ########### z1 ########### z2 #########',
    'rollout 1: z0 ########## z1 ########## z2 ##########',
  ],
};

const onEtcd: Readonly<Record<string, readonly string[]>> = {
  'nightly-export.ts': [
    'the owner writes accounts',
    'the owner writes orders',
    'the other one does nothing',
    'the other writes accounts',
    'the other writes orders',
    'the token has grown: true',
  ],
  'ring-crc32.ts': [
    'a holds commit, its token has grown: true',
    'b holds commit, its token has grown: true',
  ],
};

describe('examples', () => {
  test.concurrent.each(Object.entries(stories))('%s', async (name, lines) => {
    expect(await run(name)).toEqual(lines);
  });

  test.skipIf(etcd === null).each(Object.entries(onEtcd))(
    '%s, on a real etcd',
    async (name, lines) => {
      if (etcd === null) return;
      const cluster = await EtcdCluster.start({ paths: etcd });
      try {
        const [endpoint = ''] = cluster.endpoints;
        expect(await run(name, { CARILLON_ETCD: endpoint })).toEqual(lines);
        expect(cluster.contents().leases).toBe(0);
      } finally {
        await cluster.stop();
      }
    },
  );

  test('none is left out', () => {
    // lock-fencing.ts is run by packages/ring/src/lock-fencing.test.ts.
    const all = [...Object.keys(stories), ...Object.keys(onEtcd), 'lock-fencing.ts'];
    const files = readdirSync(folder).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    expect(files.toSorted()).toEqual(all.toSorted());
  });
});
