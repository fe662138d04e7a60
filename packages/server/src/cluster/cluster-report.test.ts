import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Metrics } from '../metrics/metrics.ts';
import type { Hello } from '../replication/wire/hello.ts';
import { ClusterReport, type ReportParts } from './cluster-report.ts';

const figures = { letters: 2, retrying: 1, answers: { '2xx': 7 } };
const load = {
  popsPerSecond: 1,
  retriedPerSecond: 0,
  givenUpPerSecond: 0,
  latenessP50Ms: 1,
  latenessP99Ms: 2,
  lagMs: 0,
};
const heard = { timers: 20, primaries: 10, disk: 'mended', load, figures } as unknown as Hello;

function reportOf(silent: readonly string[]): ClusterReport {
  const names = ['a', 'b'];
  const member = (name: string) => ({ name, address: name, weight: 1, labels: {} });
  const view = { members: names.map(member), member, hotSentences: () => [] };
  return new ClusterReport({
    self: 'a',
    clock: new VirtualClock(),
    metrics: new Metrics({ version: '1', runtime: 'node' }),
    historySinceMs: () => 0,
    disk: { state: 'whole', view: () => null },
    load: { now: () => load },
    membership: { view, leaving: false, shownPhase: () => 'active' },
    peers: { silent: (name: string) => silent.includes(name) },
    replica: () => null,
    repair: () => ({ presence: { lastHello: () => heard, offsetMs: () => 0 }, resync: {} }),
  } as unknown as ReportParts);
}

test('a member that answers is shown with its figures', () => {
  const [, other] = reportOf([]).describe().members;
  expect(other).toMatchObject({ name: 'b', reachable: true, ...heard });
});

test('the old figures of a silent member are not shown; damage on its disk is', () => {
  const [own, other] = reportOf(['b']).describe().members;
  expect(own).toMatchObject({ name: 'a', timers: 0, figures: { letters: 0 } });
  const unknown = { timers: null, primaries: null, load: null, figures: null };
  expect(other).toMatchObject({ name: 'b', reachable: false, disk: 'mended', ...unknown });
});
