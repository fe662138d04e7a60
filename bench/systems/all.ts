/** Every system, in the order in which they take turns. */
import { heapBaseline, setTimeoutBaseline } from './baselines.ts';
import { bullmq, bullmqWithoutFile } from './bullmq.ts';
import { carillon, carillonInMemory } from './carillon.ts';
import { graphile, pgBoss } from './on-postgres.ts';
import type { System } from './system.ts';

export const allSystems: readonly System[] = [
  carillon,
  carillonInMemory,
  bullmq,
  bullmqWithoutFile,
  pgBoss,
  graphile,
  setTimeoutBaseline,
  heapBaseline,
];
