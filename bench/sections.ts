/**
 * All parts of the benchmark, by name, in this order: side by side first, then the parts alone, then growth; the last
 * ones only when they are asked for.
 */
import { growth } from './growth/growth.ts';
import { limits } from './limits/limits.ts';
import { micro } from './micro/micro.ts';
import { placement } from './micro/placement-section.ts';
import { ring } from './micro/ring-section.ts';
import { overload } from './overload/overload.ts';
import { requests } from './requests.ts';
import { burst } from './workloads/burst.ts';
import { cluster } from './workloads/cluster.ts';
import { footprint } from './workloads/footprint.ts';
import { lateness } from './workloads/lateness.ts';
import { recurring } from './workloads/recurring.ts';
import { bulkSets, singleSets } from './workloads/sets.ts';
import { clientHeap } from './workloads/client-heap.ts';
import { restartLarge } from './workloads/restart-large.ts';
import { quarters } from './stories/quarters.ts';
import { quota } from './stories/quota.ts';
import { twoBillion } from './stories/two-billion.ts';
import { updates } from './workloads/updates.ts';
import type { Workload } from './workloads/workload.ts';
import { wrk } from './workloads/wrk.ts';

export interface Part {
  readonly name: string;
  readonly what: string;
  readonly run: Workload;
  /** Runs the systems side by side. False: is about Carillon alone. */
  readonly isComparing: boolean;
  /** False: only when it is asked for. */
  readonly isUsual: boolean;
}

const sideBySide = { isComparing: true, isUsual: true };
const onDemand = { isComparing: false, isUsual: false };
const alone = { isComparing: false, isUsual: true };

export const parts: readonly Part[] = [
  { name: 'sets', what: 'W1: sets, single calls', run: singleSets, ...sideBySide },
  { name: 'bulk', what: 'W1b: sets in bulk of 500', run: bulkSets, ...sideBySide },
  { name: 'lateness', what: 'W2: 10,000 timers due over 10 s', run: lateness, ...sideBySide },
  { name: 'burst', what: 'W3: 20,000 timers due at once', run: burst, ...sideBySide },
  {
    name: 'footprint',
    what: 'W4, W5, W8: memory, idle CPU, restart',
    run: footprint,
    ...sideBySide,
  },
  { name: 'updates', what: 'W6: timers put off again and again', run: updates, ...sideBySide },
  { name: 'recurring', what: 'W7: 5,000 timers every second', run: recurring, ...sideBySide },
  { name: 'wrk', what: 'W1c: one connection a call, by wrk', run: wrk, ...alone },
  { name: 'cluster', what: 'W9: three members, one killed', run: cluster, ...alone },
  { name: 'micro', what: 'wheel, wire, journal, callback and their limits', run: micro, ...alone },
  { name: 'placement', what: 'placement beside npm packages', run: placement, ...alone },
  { name: 'growth', what: 'costs at 10³ … 10⁷ timers and 1 … 9 members', run: growth, ...alone },
  { name: 'overload', what: 'five times what a member can do', run: overload, ...alone },
  { name: 'requests', what: 'one request, as much work as it can be', run: requests, ...alone },
  {
    name: 'limits',
    what: 'W1 and W1c beside the same bytes',
    run: limits,
    isComparing: true,
    isUsual: false,
  },
  { name: 'ring', what: 'the lock ring on etcd', run: ring, ...onDemand },
  { name: 'client-heap', what: 'heap of a caller over 10 M sets', run: clientHeap, ...onDemand },
  { name: 'restart-large', what: 'W8 with 10 M timers', run: restartLarge, ...onDemand },
  {
    name: 'two-billion',
    what: 'story: 23,148 set and popped a second',
    run: twoBillion,
    ...onDemand,
  },
  { name: 'quota', what: 'story: the quota of an account at once', run: quota, ...onDemand },
  {
    name: 'quarters',
    what: 'story: 60,000 crons at :00, :15, :30, :45',
    run: quarters,
    ...onDemand,
  },
];
