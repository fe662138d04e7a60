/**
 * Where a row of a table lives in a cluster of 2048 disks, and how the cluster grows by a planned zone, account by
 * account. Run it: node --conditions=source examples/grow-by-a-zone.ts
 */
import { locate, toSpec, buildTopology, tree } from '@carillon/placement';

const slots = [
  { name: 'namespace', count: 8 },
  { name: 'queue', count: 128 },
];
const pool = { partitions: 16, replicas: 6, zones: 2 };

// 2 regions × 2 zones × 32 nodes × 16 disks: six replicas of one row, in one region.
const cluster = tree({ region: 2, zone: 2, node: 32, disk: 16 }, { slots });
for (const { at } of locate(cluster, 'acme/orders/row/4711', { ...pool, pin: { region: 'r0' } })) {
  const { region, zone, node, disk, namespace, queue } = at;
  console.log(`${region} ${zone} ${node} ${disk}, namespace ${namespace}, queue ${queue}`);
}

// A third zone is planned as an expansion. Accounts come to see it one after the other, as its rollout is raised.
const { levels, children } = toSpec(tree({ zone: 3, node: 32, disk: 16 }));
const grown = (rollout: number) =>
  buildTopology({
    levels,
    slots,
    expansions: [{ id: 'spring', rollout }],
    children: children.map((zone) => (zone.id === 'z2' ? { ...zone, expansion: 'spring' } : zone)),
  });
const rows = Array.from({ length: 40 }, (_, account) => `account-${account}/orders/row/1`);
const zonesOf = (rollout: number) =>
  rows.flatMap((row) => locate(grown(rollout), row, pool).map(({ at }) => String(at['zone'])));

for (const rollout of [0, 0.25, 0.5, 0.75, 1]) {
  const zones = zonesOf(rollout);
  const part = (zone: string) => zones.filter((one) => one === zone).length / zones.length;
  const bars = ['z0', 'z1', 'z2'].map(
    (zone) => `${zone} ${'#'.repeat(Math.round(part(zone) * 30))}`,
  );
  console.log(`rollout ${rollout}: ${bars.join(' ').trim()}`);
}
