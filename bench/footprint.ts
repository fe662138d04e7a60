/**
 * What a member with many pending timers costs: memory per timer, CPU while idle, and the time to be back after kill -9.
 * One million by default; `CARILLON_BENCH_TIMERS=10000000` for more.
 */
import { post, runLoad } from './support/load.ts';
import { withScratch } from './support/scratch.ts';
import { ServerProcess } from './support/server-process.ts';
import { batch } from './support/timers.ts';

const timerCount = Number(process.env['CARILLON_BENCH_TIMERS'] ?? 1_000_000);
const batchLength = 500;
const idleMs = 10_000;
const uri = 'http://127.0.0.1:9/callback/of/a-timer';

export async function run(report: (line: string) => void): Promise<Record<string, unknown>> {
  return withScratch(async (folder) => {
    const flags = ['--listen', '127.0.0.1:0', '--data', folder];
    const member = await ServerProcess.member(flags);
    const emptyBytes = member.rssBytes();
    const request = post('/timers/batch', batch(batchLength, 86_400, uri));
    await runLoad({
      url: member.url,
      requestCount: timerCount / batchLength,
      inFlight: 4,
      request: () => request,
    });
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const bytesPerTimer = (member.rssBytes() - emptyBytes) / timerCount;
    report(
      `footprint: ${timerCount} pending: ${bytesPerTimer.toFixed(0)} bytes of RSS each, ${mib(member.rssBytes())} in all`,
    );
    const idlePercent = await idleCpu(member);
    report(`footprint: ${timerCount} pending, idle: ${idlePercent.toFixed(2)} % of one core`);
    await member.end('SIGKILL');
    const startMs = performance.now();
    const again = await ServerProcess.member(flags);
    const restartSeconds = (performance.now() - startMs) / 1000;
    const pending = await pendingAt(again.url);
    report(
      `footprint: after kill -9 serving again in ${restartSeconds.toFixed(1)} s with ${pending} timers, ${mib(again.rssBytes())}`,
    );
    await again.end();
    if (pending !== timerCount)
      throw new Error(`${timerCount - pending} timers are missing after the restart.`);
    return { timerCount, bytesPerTimer, idlePercent, restartSeconds };
  });
}

async function idleCpu(member: ServerProcess): Promise<number> {
  const cpuMs = member.cpuMs();
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  return ((member.cpuMs() - cpuMs) / idleMs) * 100;
}

async function pendingAt(url: URL): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^carillon_timers\{state="pending"\} (\d+)/m.exec(metrics)?.[1]);
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
