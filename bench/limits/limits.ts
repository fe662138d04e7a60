/**
 * What is left where a figure misses its target: the same number of bytes over the same sockets, and as many syncs,
 * with a server that does nothing else. The difference to a member is the work on the timers.
 */
import { join } from 'node:path';
import type { Column, Row, Section } from '../page/section.ts';
import { cpuMs } from '../support/process-tree.ts';
import { Remote } from '../support/remote.ts';
import { withScratch } from '../support/scratch.ts';
import { ServerProcess } from '../support/server-process.ts';
import { throughLibrary } from '../systems/with-setter.ts';
import { measureSets } from '../workloads/sets.ts';
import { type Context, failed, type Measured, rowOf } from '../workloads/workload.ts';
import { wrk } from '../workloads/wrk.ts';
import type { BareLoad, BareResult } from './bare-client.ts';

const columns: readonly Column[] = [
  { key: 'perSecond', title: 'sets', unit: 'perSecond', better: 'more' },
  { key: 'serverMicros', title: 'CPU of the server a set', unit: 'micros', better: 'less' },
  { key: 'clientMicros', title: 'CPU of the client a set', unit: 'micros', better: 'less' },
];
const serverScript = join(import.meta.dirname, 'bare-server.ts');
const clientScript = join(import.meta.dirname, 'bare-client.ts');

/** Of a set in W1, as `@carillon/client` and a member write it: in the request, in the answer, in the journal. */
const setBytes = { request: 220, answer: 105, entry: 190 };
/** `@carillon/client` has 64 calls in flight in two requests. */
const setsInRequest = 32;
const requestsInFlight = 2;

export async function limits(context: Context): Promise<readonly Section[]> {
  const rows: Row[] = [];
  const add = async (name: string, label: string, run: () => Promise<Measured>): Promise<void> => {
    context.tell(`${label} …`);
    const kind = name.startsWith('bare') ? 'baseline' : 'ours';
    const { values, note } = await run().catch(failed);
    rows.push(rowOf({ name, label, kind }, columns, values, note));
  };
  for (const system of context.systems.filter(({ kind }) => kind === 'ours')) {
    const run = (): Promise<Measured> =>
      measureSets(throughLibrary(system), context, { call: 'set' });
    await add(system.name, system.label, run);
  }
  await add('bare-synced', 'the same bytes and syncs', () => bare(context, true));
  await add('bare-memory', 'the same bytes', () => bare(context, false));
  return [
    {
      id: 'limits',
      title: 'W1 · Beside the same bytes',
      what: `Sets as in W1, through @carillon/client; and a server on bare sockets that counts as many bytes and answers with as many, in requests of ${setsInRequest} sets, ${requestsInFlight} in flight, with and without a sync to disk before the answer. It parses nothing and keeps nothing.`,
      columns,
      rows,
      headline: { column: 'perSecond', reference: 'carillon' },
      charts: [],
      notes: [],
    },
    ...(await wrk(context)).map((section) => ({
      ...section,
      id: 'limits-wrk',
      title: 'W1c · Beside bare sockets',
    })),
  ];
}

function bare({ sizes }: Context, isSynced: boolean): Promise<Measured> {
  const requestBytes = setsInRequest * setBytes.request;
  const answerBytes = setsInRequest * setBytes.answer;
  return withScratch(async (folder) => {
    const sync = ['--sync', join(folder, 'entries'), String(setsInRequest * setBytes.entry)];
    const args = [String(requestBytes), String(answerBytes), ...(isSynced ? sync : [])];
    const server = await ServerProcess.start(serverScript, args);
    const client = new Remote(clientScript);
    const url = server.url.href;
    const load = { url, inFlight: requestsInFlight, requestBytes, answerBytes };
    const run = (ms: number): Promise<BareResult> =>
      client.call('run', { ...load, ms } satisfies BareLoad);
    try {
      await run(sizes.sets.warmMs);
      const before = cpuMs([server.pid]);
      const { count, seconds, cpuMs: ownMs } = await run(sizes.sets.limitMs);
      const sets = count * setsInRequest;
      const serverMicros = ((cpuMs([server.pid]) - before) * 1000) / sets;
      return {
        values: { perSecond: sets / seconds, serverMicros, clientMicros: (ownMs * 1000) / sets },
      };
    } finally {
      await client.end();
      await server.end('SIGKILL');
    }
  });
}
