/**
 * `carillon dev --members 3` with 10,000 timers that pop within 30 s; one member is killed among them. Prints the
 * result, and how long until every remaining timer had two copies again; exits 1 when a promise was broken. `npm run
 * show:kill [-- TIMERS]`
 */
import { CliProcess, type JsonLine } from './cli-process.ts';
import { setMany } from './support/batch.ts';
import { Court } from './support/court.ts';
import { RealMember } from './support/real-member.ts';
import { latenessAt, Recorder } from './support/recorder.ts';
import { until } from './support/until.ts';

const [timers = 10_000] = process.argv.slice(2).map(Number);
/** These stay, so that there are copies to count after the kill. */
const lying = 10_000;
const port = 12_000 + (process.pid % 20_000);
const isMember = (line: JsonLine): boolean => line['event'] === 'member';

const court = new Court();
const recorder = new Recorder();
recorder.onCall = (call) => court.heard(call);
const uri = await recorder.listen();
const dev = new CliProcess(
  `dev --members 3 --json --port ${port} --receiver-port 0 --log-level error`.split(' '),
);
try {
  await dev.line((line) => isMember(line) && line['name'] === 'n2');
  const members = dev.json().filter(isMember);
  const urls = members.map(({ url }) => String(url));
  await setMany(
    { court, urls, uri },
    wishes(timers, (i) => 5000 + (30_000 * i) / timers),
  );
  await setMany(
    { court, urls, uri },
    wishes(lying, () => 3_600_000),
  );
  await until('a third has popped', 60_000, () => recorder.calls.length > timers / 3);
  const over = court.fault('down', 'n0 was killed');
  process.kill(Number(members[0]?.['pid']), 'SIGKILL');
  const killedMs = performance.now();
  const left = members.slice(1).map(
    ({ name, url }) =>
      new RealMember({
        name: String(name),
        address: String(url).slice('http://'.length),
        peer: '',
        args: [],
        via: [],
      }),
  );
  await until('every timer has popped', 120_000, () => distinct() >= timers);
  await until('two copies of all that is left', 120_000, async () => {
    const copies = await Promise.all(left.map((member) => member.copies()));
    return copies.reduce((sum, count) => sum + count, 0) === 2 * lying;
  });
  const repairedMs = performance.now() - killedMs;
  over();
  const broken = court.verdict(performance.now());
  const at = (share: number): string => `${latenessAt(recorder.calls, share)} ms`;
  console.log(
    `${timers} timers, ${recorder.calls.length} callbacks, ${court.duplicates} repeated; ` +
      `lateness p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`,
  );
  console.log(`two copies of ${lying} timers ${Math.round(repairedMs)} ms after the kill`);
  for (const one of broken) console.log(one);
  if (broken.length > 0) process.exitCode = 1;
} finally {
  await dev.kill('SIGTERM');
  recorder.close();
  court.close();
}

function wishes(length: number, intervalMs: (i: number) => number) {
  return Array.from({ length }, (_, i) => ({
    intervalMs: Math.round(intervalMs(i)),
    count: 1,
    factor: 2,
    receiver: 'recorder',
  }));
}

function distinct(): number {
  return new Set(recorder.calls.map(({ number }) => number)).size;
}
