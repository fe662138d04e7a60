/**
 * Brings the programs that the tests call, before they run: Node 24 (from `npm ci`), etcd (`etcd.ts`), Chromium
 * (`chromium.ts`), the rest of `debian.ts` and other runtimes (`runtimes.ts`, which npm installs at the same time).
 * Names each one that is missing; in CI that is a failure.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromiumForTests } from './chromium.ts';
import { toolForTests, tools } from './debian.ts';
import { etcdForTests } from './etcd.ts';
import { leastRuntime, runtimes } from './runtimes.ts';

const runtimeMajorMin = 24;
const execute = promisify(execFile);

/** In a process of its own, so that the others need not wait. */
async function bringRuntime(name: string): Promise<void> {
  const program = join(import.meta.dirname, 'runtimes.ts');
  const { stderr } = await execute(process.execPath, [program, name]);
  process.stderr.write(stderr);
}

async function main(): Promise<void> {
  const { node } = process.versions;
  if (Number(node.split('.')[0]) < runtimeMajorMin) {
    throw new Error(
      `This is Node ${node}, the tests need ${runtimeMajorMin} or later. npm ci installs the pinned one; run the tests through npm.`,
    );
  }
  const underWay = Promise.all([leastRuntime, ...runtimes].map(({ name }) => bringRuntime(name)));
  etcdForTests();
  chromiumForTests();
  for (const tool of Object.values(tools)) toolForTests(tool);
  await underWay;
}

try {
  await main();
} catch (cause) {
  console.error(`setup: ${cause instanceof Error ? cause.message : String(cause)}`);
  process.exitCode = 1;
}
