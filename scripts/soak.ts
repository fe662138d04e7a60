/**
 * `npm run soak -- --minutes 30`: three members as processes, with a secret between them and tokens for clients, under load, with faults
 * all the while: members are killed, stand still, are restarted, come and go by the members file, and change their secret. The
 * judges of the end-to-end tests watch. Each second memory and lateness are written down; at the end there is a verdict, and
 * soak.json and a picture of each in bench/report. Ends with 1 when a promise was broken or memory keeps growing.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { newToken, renderTokens, tokenDigest } from '@carillon/server';
import { randomBytes } from 'node:crypto';
import { Story } from '../test/e2e/support/story.ts';
import { Faults } from './soak/faults.ts';
import { growthOf, report, type Soak } from './soak/report.ts';
import { Sampler } from './soak/sampler.ts';

const help = `npm run soak -- [options]

  --minutes N   how long (30)
  --rate N      timers set in a second (60)
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      rate: { type: 'string', default: '60' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const minutes = positive(values.minutes, '--minutes');
  const setsPerSecond = positive(values.rate, '--rate');
  const folder = mkdtempSync(join(tmpdir(), 'carillon-soak-'));
  const story = await begin(folder, setsPerSecond);
  try {
    await soak(story, folder, minutes);
  } finally {
    await story.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function begin(folder: string, setsPerSecond: number): Promise<Story> {
  const { id, text } = newToken(randomBytes);
  const created = new Date().toISOString();
  const about = { name: 'soak', scope: 'admin', namespace: '*', created, until: null } as const;
  const tokens = join(folder, 'tokens.json');
  writeFileSync(tokens, renderTokens([{ id, ...about, digest: tokenDigest(text) }]));
  withToken(text);
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, randomBytes(32).toString('hex'));
  return Story.begin({
    names: ['n0', 'n1', 'n2'],
    flags: ['--cluster-secret-file', secretFile, '--auth-tokens', tokens],
    load: { setsPerSecond },
  });
}

/** The helpers of the end-to-end tests ask without a token; here all requests of this process carry one. */
function withToken(text: string): void {
  const plain = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${text}`);
    return plain(input, { ...init, headers });
  };
}

async function soak(story: Story, folder: string, minutes: number): Promise<void> {
  const sampler = new Sampler(story);
  const faults = new Faults(story, join(folder, 'secret'), (line) => console.error(line));
  story.load.start();
  const endMs = performance.now() + minutes * 60_000;
  while (performance.now() < endMs) await faults.next();
  const broken = await story.finish(`${minutes} minutes`);
  const samples = await sampler.stop();
  const result: Soak = { minutes, broken, samples, faults: faults.counts, says: story.summary() };
  const growth = growthOf(samples);
  console.log(`faults: ${JSON.stringify(faults.counts)}`);
  console.log(`memory: ${growth.says}`);
  await report(result, join(import.meta.dirname, '../bench/report'));
  for (const one of broken) console.error(one);
  if (broken.length === 0 && !growth.isGrowing) console.log('Every promise was kept.');
  else process.exitCode = 1;
}

function positive(text: string, flag: string): number {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`soak: ${flag} must be a number above 0, not ${text}.`);
  process.exit(2);
}

await main();
