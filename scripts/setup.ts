/**
 * Makes sure that what the tests need from the system is there, before they run: Node 24 (from `npm ci`) and etcd
 * (real lock ring tests). Installs what it can, says plainly what it cannot. A developer's machine without etcd
 * skips those tests in sight; in CI the same is a failure, because nobody would notice a skip there.
 */
import { spawnSync } from 'node:child_process';
import { decide, runtimeMajorMin, type Tool, tools } from './setup/decide.ts';

const inCi = (process.env['CI'] ?? '') !== '';

function main(): void {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < runtimeMajorMin) {
    fail(
      `This is Node ${process.versions.node}, the tests need ${runtimeMajorMin} or later. \`npm ci\` installs the pinned one; run the tests through npm.`,
    );
  }
  for (const tool of tools) prepare(tool);
}

function prepare(tool: Tool): void {
  const canInstall = process.getuid?.() === 0 && runs('apt-get', ['--version']);
  let decision = decide({ found: isThere(tool), canInstall, inCi });
  if (decision === 'install') {
    console.log(`setup: installing ${tool.debianPackage} for ${tool.neededFor}`);
    apt(['update']);
    apt(['install', '--yes', '--no-install-recommends', tool.debianPackage]);
    decision = decide({ found: isThere(tool), canInstall: false, inCi });
  }
  if (decision === 'ready') return;
  const message = `${tool.command} is missing, and ${tool.neededFor} need it. Install it (Debian, Ubuntu: apt-get install ${tool.debianPackage}) and run the tests again.`;
  if (decision === 'fail') fail(message);
  console.warn(`setup: ${message} Until then those tests are skipped.`);
}

function isThere(tool: Tool): boolean {
  return runs(tool.command, tool.versionArguments);
}

function apt(given: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['--quiet', ...given], { stdio: ['ignore', 'ignore', 'inherit'], env });
}

function runs(command: string, given: readonly string[]): boolean {
  return spawnSync(command, given, { stdio: 'ignore' }).status === 0;
}

function fail(message: string): never {
  console.error(`setup: ${message}`);
  process.exit(1);
}

main();
