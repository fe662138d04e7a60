/**
 * `npm run soak -- --minutes 30`: three members as processes under load, with faults all the while: members are killed,
 * stand still, are cut off from each other and from etcd, are restarted, come and go, and change their secret. A
 * checker outside of them judges every promise it can see; each second memory, lateness and waits for a processor are
 * written down. Ends with 1 when a promise was broken or memory grows without bound, and says which; leaves soak.json
 * and pictures in bench/report.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { judgeSoak, type Verdict } from './checker.ts';
import { type FaultName, faultNames, Faults, possibleOn } from './faults.ts';
import { type Block, blockFor, writeBlock } from './page.ts';
import { report } from './report.ts';
import { Sampler } from './sampler.ts';
import { names, Scene } from './scene.ts';
import { asText, repeatedShareMax, summarize } from './summary.ts';
import { inSeconds } from './windows.ts';

const help = `npm run soak -- [options]

  --minutes N   how long (30)
  --rate N      timers set in a second (60)
  --only FAULT  nothing but this one, such as "restarted", to see something again
  --stall N     a stalled member has no processor for up to so many milliseconds at a time (1000)
  --json        the summary for programs, on standard output
  --write       the summary into docs/security.md, in the place of the one of an earlier run like this
  --help        this

Members are cut off from each other and from etcd by network namespaces, which need root, ip and iptables.
Progress goes to standard error. Ends with 0 when every promise was kept, with 1 when one was broken, with 2 when an option is wrong.
soak.json and the pictures soak-memory, soak-lateness, soak-waits and soak-faults (.svg) are left in bench/report.
`;

const folder = join(import.meta.dirname, '../../bench/report');

async function main(): Promise<void> {
  const values = optionsGiven();
  if (values.help) {
    console.log(help);
    return;
  }
  const minutes = positive(values.minutes, '--minutes');
  const setsPerSecond = positive(values.rate, '--rate');
  const only = faultNamed(values.only);
  const stallMsMax = positive(values.stall, '--stall');
  const block = values.write ? blockFor(only, stallMsMax) : null;
  if (block instanceof Error) refuse(block.message);
  const seed = Date.now() >>> 0;
  const scene = await Scene.begin({ setsPerSecond, seed });
  const interrupted = (): void => void scene.end().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    await soak(scene, { minutes, seed, only, stallMsMax, json: values.json, block });
  } finally {
    await scene.end();
  }
}

interface Given {
  readonly minutes: number;
  readonly seed: number;
  readonly only: FaultName | null;
  readonly stallMsMax: number;
  readonly json: boolean;
  /** The part of docs/security.md to write; null: none. */
  readonly block: Block | null;
}

async function soak(scene: Scene, given: Given): Promise<void> {
  const { minutes, seed, only, stallMsMax, json, block } = given;
  const { windows, history, recorder, stage } = scene;
  const sampler = new Sampler(scene);
  const possible = possibleOn(stage).filter((name) => only === null || name === only);
  if (possible.length === 0) throw new Error(stage.skipped.join(' '));
  const faults = new Faults(scene, possible, stallMsMax);
  const skipped = [
    ...stage.skipped,
    ...(sampler.obstacle === null
      ? []
      : [`Memory and starved members are not seen: ${sampler.obstacle}.`]),
  ];
  for (const reason of skipped) console.error(`soak: skipped: ${reason}`);
  scene.load.start();
  const failed = await play(scene, faults, minutes);
  await scene.finish().catch((error: unknown) => failed.push(`P2: ${sentence(error)}`));
  sampler.stop();
  const { calls } = recorder;
  const deadLetters = await scene.deadLetters();
  const { blind, samples } = sampler;
  const verdict = judgeSoak({ history, calls, windows, members: names, deadLetters, blind });
  if (only === 'stalled') failed.push(...tooOften(verdict));
  const about = { minutes, seed, verdict, failed, faults: faults.counts, skipped };
  const summary = summarize({ ...about, calls, windows, samples });
  await report({ summary, windows, samples }, folder);
  console.log(json ? JSON.stringify(summary) : asText(summary));
  if (block !== null) writeBlock(block, summary);
  if (!summary.kept) process.exitCode = 1;
}

/** Where nothing but processors were missing, hardly a callback comes twice, however long they were. */
function tooOften({ counts }: Verdict): string[] {
  const { pops, twice } = counts;
  const share = twice.inside / Math.max(1, pops);
  if (share <= repeatedShareMax) return [];
  return [`P5: ${twice.inside} of ${pops} pops were called twice while members had no processor.`];
}

/**
 * One fault after the other until the time is over; returns the reasons why members did not see each other again, in
 * sentences.
 */
async function play(scene: Scene, faults: Faults, minutes: number): Promise<string[]> {
  const endMs = performance.now() + minutes * 60_000;
  while (performance.now() < endMs) {
    await faults.peace();
    const fromMs = performance.now();
    try {
      const kind = await faults.next();
      progress(
        scene,
        `${kind} from ${inSeconds(fromMs)} to ${inSeconds(performance.now())}`,
        endMs,
      );
    } catch (error) {
      return [`P8: after a fault at ${inSeconds(fromMs)}: ${sentence(error)}`];
    }
  }
  await faults.peace();
  return [];
}

function progress({ history, recorder, windows }: Scene, what: string, endMs: number): void {
  const { calls } = recorder;
  const repeated = calls.length - new Set(calls.map(({ popId }) => popId)).size;
  const starvedMs = Math.max(...names.map((name) => windows.starvedMs(name)));
  const left = inSeconds(Math.max(0, endMs - performance.now()));
  console.error(
    `${what}; ${history.timers.length} timers, ${calls.length} callbacks, ${repeated} of them repeated, ` +
      `up to ${inSeconds(starvedMs)} without a processor; ${left} left`,
  );
}

function sentence(error: unknown): string {
  return error instanceof Error ? `${error.message}.` : String(error);
}

function optionsGiven() {
  try {
    return parseArgs({
      options: {
        minutes: { type: 'string', default: '30' },
        rate: { type: 'string', default: '60' },
        only: { type: 'string' },
        stall: { type: 'string', default: '1000' },
        json: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function faultNamed(given: string | undefined): FaultName | null {
  if (given === undefined) return null;
  const found = faultNames.find((name) => name === given);
  return found ?? refuse(`--only must be one of ${faultNames.join(', ')}, not ${given}.`);
}

function positive(given: string, flag: string): number {
  const value = Number(given);
  return value > 0 && Number.isFinite(value)
    ? value
    : refuse(`${flag} must be a number above 0, not ${given}.`);
}

function refuse(message: string): never {
  console.error(`soak: ${message} See --help.`);
  process.exit(2);
}

await main();
