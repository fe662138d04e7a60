/** The parts alone, each beside the least that its work can cost: one row a part, and how far from the limit it is. */
import type { Column, Row, Section } from '../page/section.ts';
import type { Context } from '../workloads/workload.ts';
import { run as callback } from './callback.ts';
import { run as journal } from './journal.ts';
import { run as wheel } from './wheel.ts';
import { run as wire } from './wire.ts';

const columns: readonly Column[] = [
  { key: 'cost', title: 'cost', unit: 'micros', better: 'less' },
  { key: 'limit', title: 'the limit', unit: 'micros', better: 'neither' },
  { key: 'distance', title: 'cost ÷ limit', unit: 'ratio', better: 'less' },
];

interface Part {
  readonly name: string;
  readonly label: string;
  /** Microseconds each. */
  readonly cost: number;
  readonly limit: number;
  /** The meaning of the limit. */
  readonly note: string;
}

export async function micro({ tell, sizes }: Context): Promise<readonly Section[]> {
  const parts = [
    ...wheelParts(await wheel(tell, sizes.microShare)),
    ...wireParts(await wire(tell, sizes.microShare)),
    ...journalParts(await journal(tell, sizes.microShare)),
    ...callbackParts(await callback(tell, sizes.microShare)),
  ];
  return [
    {
      id: 'micro',
      title: 'Parts alone, and their limits',
      what: 'CPU time of one operation inside one process (for the journal: elapsed time), beside the least that the same work can cost on the same machine in the same run.',
      columns,
      rows: parts.map(rowOf),
      headline: null,
      charts: [
        { kind: 'bars', id: 'micro', title: 'Parts alone: cost ÷ limit', column: 'distance' },
      ],
      notes: [],
    },
  ];
}

function rowOf({ name, label, cost, limit, note }: Part): Row {
  const values = { cost, limit, distance: cost / limit };
  return { name, label, kind: 'ours', values, note };
}

function wheelParts(got: Awaited<ReturnType<typeof wheel>>): Part[] {
  const cost = 1e6 / got.setAndCancelPerSecond;
  return [
    {
      name: 'wheel',
      label: 'wheel: set and cancel',
      cost,
      limit: 1e6 / got.linksPerSecond,
      note: 'limit: linking and unlinking an entry in a slot of a typed array, without tiers',
    },
    {
      name: 'wheel-timeout',
      label: 'wheel: set and cancel',
      cost,
      limit: 1e6 / got.timeoutsPerSecond,
      note: 'for comparison: setTimeout and clearTimeout',
    },
    {
      name: 'wheel-drain',
      label: 'wheel: take out due handles, set within an hour',
      cost: 1e6 / got.drainHourPerSecond,
      limit: (1e6 / got.linksPerSecond) * movesWithinAnHour,
      note: `limit: ${movesWithinAnHour.toFixed(1)} times the bare linking, which is how often an entry set for within an hour moves down the tiers (as in tokio, 64 slots a tier)`,
    },
  ];
}

/** One move a tier of 64 slots from the one where it was set down to the milliseconds, on average, and out. */
const movesWithinAnHour = averageMoves(3_600_000);

function averageMoves(spanMs: number): number {
  let moves = 0;
  for (let tier = 0, lower = 0; lower < spanMs; tier++) {
    const upper = Math.min(spanMs, 64 ** (tier + 1));
    moves += ((upper - lower) / spanMs) * (tier + 1);
    lower = upper;
  }
  return moves;
}

function wireParts(got: Awaited<ReturnType<typeof wire>>): Part[] {
  return [
    {
      name: 'wire',
      label: 'record to a peer: written and read',
      cost: got.binary.micros,
      limit: got.json.micros,
      note: 'for comparison: the same as JSON',
    },
  ];
}

function journalParts(got: Awaited<ReturnType<typeof journal>>): Part[] {
  const cost = 1e6 / got.durablePerSecond;
  return [
    {
      name: 'journal',
      label: 'journal: one durable record, 1,000 waiting',
      cost,
      limit: cost * got.bareRatio,
      note: 'limit: the same bytes appended and synced with as many bare fdatasync, elapsed time',
    },
  ];
}

function callbackParts(got: Awaited<ReturnType<typeof callback>>): Part[] {
  const of = (name: string): number => got[name]?.cpuUs ?? Number.NaN;
  const cost = of('destinations');
  return [
    {
      name: 'callback',
      label: 'callback: with guard, limits and queues',
      cost,
      limit: of('sockets'),
      note: 'limit: prepared bytes on bare sockets into the same receiver',
    },
    {
      name: 'callback-undici',
      label: 'callback: with guard, limits and queues',
      cost,
      limit: of('undici'),
      note: 'for comparison: bare undici dispatch',
    },
  ];
}
