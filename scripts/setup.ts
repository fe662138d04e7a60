/**
 * Brings the programs that the tests call, before they run: Node 24 (from `npm ci`), etcd (`etcd.ts`), Chromium
 * (`chromium.ts`), the rest of `debian.ts` and other runtimes (`runtimes.ts`). Names each one that is missing; in CI
 * that is a failure.
 */
import { chromiumForTests } from './chromium.ts';
import { toolForTests, tools } from './debian.ts';
import { etcdForTests } from './etcd.ts';
import { leastRuntime, runtimeForTests, runtimes } from './runtimes.ts';

const runtimeMajorMin = 24;

function main(): void {
  const { node } = process.versions;
  if (Number(node.split('.')[0]) < runtimeMajorMin) {
    throw new Error(
      `This is Node ${node}, the tests need ${runtimeMajorMin} or later. npm ci installs the pinned one; run the tests through npm.`,
    );
  }
  etcdForTests();
  chromiumForTests();
  for (const tool of Object.values(tools)) toolForTests(tool);
  for (const runtime of [leastRuntime, ...runtimes]) runtimeForTests(runtime);
}

try {
  main();
} catch (cause) {
  console.error(`setup: ${cause instanceof Error ? cause.message : String(cause)}`);
  process.exitCode = 1;
}
