/**
 * Where a row of a table lives: a pool of 96 disks for the table, the account in the key, six replicas.
 * Run it: node --conditions=source examples/locate-a-row.ts
 */
import { locate, tree } from '@carillon/placement';

const slots = ['namespace', 'queue'].map((name, i) => ({ name, count: [8, 128][i] ?? 1 }));
const cluster = tree({ region: 2, zone: 2, node: 32, disk: 16 }, { slots });
const pool = { partitions: 16, replicas: 6, pin: { region: 'r0' } };
for (const { path, at } of locate(cluster, 'acme/orders/row/4711', pool)) {
  console.log(`${path}, namespace ${at['namespace']}, queue ${at['queue']}`);
}
