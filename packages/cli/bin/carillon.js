#!/usr/bin/env node
// The command `carillon`. Installed, it runs dist/command/ on the Node that called it: the whole program in a few files,
// which start in half the time. In a clone of the repository it runs the sources on the Node that `npm ci` brought; a
// copy of a built clone without that Node runs dist/. Every Node since 18 can read this file: an old one gets a sentence.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const least = [22, 2];

/** @param {string} path From this file. */
function at(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** @param {string} version Such as 22.1.0. */
function isTooOld(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < least[0] || (major === least[0] && minor < least[1]);
}

/** @param {string} sentence */
function refuse(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}

/** @param {string} node The Node that `npm ci` brought. */
function runSources(node) {
  const given = [
    '--conditions=source',
    '--no-warnings',
    `--import=${new URL('./ends-with-launcher.js', import.meta.url)}`,
    at('../src/main.ts'),
    ...process.argv.slice(2),
  ];
  // When this process is killed, the channel closes, and the sources end as well.
  const child = spawn(node, given, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  // Ctrl-C reaches both processes; only the sources act on it.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => refuse(`carillon: ${node} does not start: ${error.message}`));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

const pinnedNode = at('../../../node_modules/node/bin/node');
const isClone = existsSync(at('../src/main.ts'));
const built = ['../dist/command/main.js', '../dist/main.js'].find((path) => existsSync(at(path)));
if (isClone && existsSync(pinnedNode)) runSources(pinnedNode);
else if (built === undefined) {
  refuse('carillon: run "npm ci" first; it brings the Node that the sources need.');
} else if (isTooOld(process.versions.node)) {
  refuse(`carillon needs Node ${least.join('.')} or later; this is Node ${process.versions.node}.`);
} else await import(built);
