/**
 * Where keys live on a topology, and which of them move when it grows. Placement is a pure function: no member, no
 * network. Run it: node --conditions=source examples/place-keys.ts
 */
import { buildTopology, compileTopology, diff, type VertexSpec } from '@carillon/placement';

const zone = (id: string): VertexSpec => ({
  id,
  children: ['db-1', 'db-2', 'db-3'].map((target) => ({ id: target })),
});
const world = (...zonesOfEu: VertexSpec[]) =>
  buildTopology({
    levels: ['region', 'zone', 'target'],
    // A region's share follows the weights of its zones.
    weights: 'sum',
    children: [
      { id: 'eu', children: zonesOfEu },
      { id: 'us', children: [zone('a'), zone('b')] },
    ],
  });

// Three replicas of each key, within the European Union, in two zones at least by spreading as wide as it goes.
const policy = { replicas: 3, pin: { region: 'eu' } };
const before = compileTopology(world(zone('a'), zone('b')), policy);
for (const key of ['customer/ada', 'customer/grace']) {
  console.log(
    `${key}: ${before
      .place(key)
      .replicas.map(({ path }) => path)
      .join(', ')}`,
  );
}

// A third zone comes: how much has to be copied, and how much would any scheme have to copy?
const after = compileTopology(world(zone('a'), zone('b'), zone('c')), policy);
const { copies, moved, minimum, betweenSurvivors } = diff(before, after, {
  replicas: policy.replicas,
  keys: 30_000,
});
const share = (count: number): string => `${((100 * count) / copies).toFixed(1)} %`;
console.log(
  `a zone more moves ${share(moved)} of the copies; the least for these loads is ${share(minimum)}`,
);
console.log(`between targets that were there before: ${share(betweenSurvivors)}`);
