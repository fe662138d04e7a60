/**
 * A ring with crc32 and two processes: crc32 gives "commit" to b, so the key moves to the second one as soon as the
 * first unlocks it. Run it beside an etcd: CARILLON_ETCD=http://127.0.0.1:2379 node --conditions=source
 * examples/ring-crc32.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { crc32, Ring } from '@carillon/ring';

const [id = 'a', tokenBefore = '0'] = process.argv.slice(2);
const endpoints = [process.env['CARILLON_ETCD'] ?? 'http://127.0.0.1:2379'];
await using ring = await Ring.open({ endpoints, prefix: 'workers', placement: crc32 });
await ring.addMember(id);
const { token, revoking } = await ring.lock('commit');
console.log(`${id} holds commit, its token has grown: ${token > BigInt(tokenBefore)}`);
if (id === 'a') {
  const program = ['--conditions=source', import.meta.filename];
  spawn(process.execPath, [...program, 'b', String(token)], { stdio: 'inherit' });
  await once(revoking, 'abort');
}
await ring.unlock('commit');
