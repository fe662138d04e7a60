/** The process that makes the load, the same for every system: it sets, refreshes and fills, and counts its own CPU. */
import { answerCalls } from '../support/remote.ts';
import type { Load, LoadResult } from './load.ts';
import type { Due, Setter, SetterConfig, Spec } from './setter.ts';

const reasonCountMax = 3;

let setter: Setter | null = null;

answerCalls({
  open: async (config: SetterConfig) => {
    setter = await openSetter(config);
  },
  run: (load: Load) => run(load),
  close: async () => {
    await setter?.close();
    setter = null;
  },
  heapBytes: () => {
    gc?.();
    return process.memoryUsage().heapUsed;
  },
});

/** Only the library that is measured is loaded. */
async function openSetter(config: SetterConfig): Promise<Setter> {
  switch (config.kind) {
    case 'carillon':
    case 'carillon-apart': {
      const { CarillonSetter } = await import('./carillon-setter.ts');
      return new CarillonSetter(config);
    }
    case 'carillon-client': {
      const { CarillonClientSetter } = await import('./carillon-client-setter.ts');
      return new CarillonClientSetter(config);
    }
    case 'carillon-fetch': {
      const { FetchSetter } = await import('./fetch-setter.ts');
      return new FetchSetter(config);
    }
    case 'bullmq': {
      const { BullmqSetter } = await import('./bullmq-setter.ts');
      return new BullmqSetter(config.port);
    }
    case 'pg-boss': {
      const { PgBossSetter } = await import('./pg-boss-setter.ts');
      return PgBossSetter.open(config.connectionString);
    }
    case 'graphile': {
      const { GraphileSetter } = await import('./graphile-setter.ts');
      return GraphileSetter.open(config.connectionString);
    }
    case 'settimeout':
    case 'heap': {
      const { BaselineSetter } = await import('./baseline-setter.ts');
      return new BaselineSetter(config.kind, config.uri);
    }
  }
}

/** So many workers, each of which waits for its answer before it goes on. */
async function run(load: Load): Promise<LoadResult> {
  const target = setter;
  if (target === null) throw new Error('No system was opened.');
  const reasons: string[] = [];
  let next = 0;
  let failed = 0;
  const startCpu = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + (load.limitMs ?? Number.POSITIVE_INFINITY);
  const worker = async (): Promise<void> => {
    while (next < load.count && performance.now() < endMs) {
      const first = next;
      const end = Math.min(load.count, first + (isMany(load) ? load.batchLength : 1));
      next = end;
      if (load.paceMs > 0) await pause(startMs + first * load.paceMs - performance.now());
      try {
        await callOne(target, load, first, end);
      } catch (error) {
        failed += end - first;
        if (reasons.length < reasonCountMax) reasons.push(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: load.inFlight }, worker));
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(startCpu);
  const repeated = target.repeated ?? 0;
  return {
    count: next - failed,
    failed,
    reasons,
    repeated,
    seconds,
    cpuMs: (user + system) / 1000,
  };
}

async function callOne(target: Setter, load: Load, first: number, end: number): Promise<void> {
  switch (load.call) {
    case 'set':
      return target.set(specOf(load, first));
    case 'setMany':
      return target.setMany(Array.from({ length: end - first }, (_, i) => specOf(load, first + i)));
    case 'refresh':
      return target.refresh({
        ...specOf(load, first),
        index: load.firstIndex + (first % load.timerCount),
      });
    case 'cancel': {
      if (target.cancel === undefined) throw new Error('Cancelling is not measured here.');
      return target.cancel(load.firstIndex + first);
    }
    case 'cron':
      return cronOf(target, load, first, end);
    case 'recur': {
      const { everyMs, times } = load.recurring;
      return target.recur({ index: first, firstMs: Date.now() + everyMs, everyMs, count: times });
    }
  }
}

function isMany({ call }: Load): boolean {
  return call === 'setMany' || call === 'cron';
}

function cronOf(target: Setter, load: Load, first: number, end: number): Promise<void> {
  if (target.cronMany === undefined) throw new Error('Crons are not measured here.');
  const { firstIndex, pattern, recurring } = load;
  const one = (_: unknown, i: number) => ({
    index: firstIndex + first + i,
    pattern,
    count: recurring.times,
  });
  return target.cronMany(Array.from({ length: end - first }, one));
}

function specOf({ firstIndex, due }: Load, i: number): Spec {
  const at: Due = 'inMs' in due ? due : { atMs: Math.round(due.firstMs + i * due.stepMs) };
  return { index: firstIndex + i, due: at };
}

async function pause(waitMs: number): Promise<void> {
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}
