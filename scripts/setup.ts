/**
 * Makes sure that what the tests need from the system is there, before they run: Node 24 (from `npm ci`), etcd
 * (see `etcd.ts`) and Chromium (see `chromium.ts`). Says plainly what is missing; in CI that is a failure, because nobody would notice a skipped test there.
 */
import { chromiumForTests } from './chromium.ts';
import { etcdForTests } from './etcd.ts';

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
}

try {
  main();
} catch (cause) {
  console.error(`setup: ${cause instanceof Error ? cause.message : String(cause)}`);
  process.exitCode = 1;
}
