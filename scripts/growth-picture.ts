/**
 * The picture of a cluster that grows by a planned zone, account by account: shares of the zones at each step of the
 * rollout.
 */
import * as Plot from '@observablehq/plot';
import { buildTopology, locate } from '@carillon/placement';
import { colours, type Picture } from './charts.ts';

const accountCount = 400;
const rollouts = [0, 0.25, 0.5, 0.75, 1];
const fills: Readonly<Record<string, string>> = {
  z0: '#7f96ad',
  z1: '#b0bac5',
  z2: colours.moved,
};

/** The part of all copies in each zone, one row of an account each, as in examples/grow-by-a-zone.ts. */
function sharesAt(rollout: number): { rollout: string; zone: string; share: number }[] {
  const grown = buildTopology({
    tree: { zone: 3, node: 32, disk: 16 },
    vertices: { z2: { expansion: 'spring' } },
    expansions: [{ id: 'spring', rollout }],
  });
  const pool = { partitions: 16, replicas: 6, zones: 2 };
  const zones = Array.from({ length: accountCount }, (_, account) =>
    locate(grown, `account-${account}/orders/row/1`, pool).map(({ at }) => String(at['zone'])),
  ).flat();
  return Object.keys(fills).map((zone) => ({
    rollout: `rollout ${rollout}`,
    zone,
    share: zones.filter((one) => one === zone).length / zones.length,
  }));
}

export function growthPicture(): Picture {
  const bars = rollouts.flatMap(sharesAt);
  const place = { fx: 'rollout', x: 'zone', y: 'share' };
  return {
    title: `A third zone comes: shares of the copies of ${accountCount} accounts`,
    plots: [
      {
        height: 220,
        marginLeft: 20,
        marginTop: 24,
        fx: { label: null, axis: 'bottom', padding: 0.2 },
        x: { axis: null },
        y: { axis: null, domain: [0, 0.55] },
        marks: [
          Plot.barY(bars, { ...place, fill: ({ zone }: { zone: string }) => fills[zone] }),
          Plot.text(bars, {
            ...place,
            text: ({ share }: { share: number }) => `${Math.round(share * 100)} %`,
            dy: -7,
            fontSize: 10,
          }),
        ],
      },
    ],
    legend: [
      ['z0', fills['z0'] as string],
      ['z1', fills['z1'] as string],
      ['z2, planned at first', colours.moved],
    ],
    legendColumns: 3,
  };
}
