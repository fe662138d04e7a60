#!/usr/bin/env node
/** The entry of the binary: gives `run` the process as its world. */
import { release } from './index.ts';
import { exit, type Io } from './command.ts';
import { useCompileCache } from './member/compile-cache.ts';
import { run } from './run.ts';

// Most modules are loaded by the command that needs them, and so come from the cache.
useCompileCache(process.env);

const controller = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second signal ends the process at once.
    if (controller.signal.aborted) process.exit(exit.interrupted);
    controller.abort(new Error(`Stopped by ${signal}.`));
  });
}

// `carillon list | head` closes the pipe early, which is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exit.done);
  throw error;
});

const colours = !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
const io: Io = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  terminal: process.stdout.isTTY,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  color: process.stdout.isTTY && colours,
  errColor: process.stderr.isTTY && colours,
  env: process.env,
  get input() {
    return process.stdin;
  },
  signal: controller.signal,
};

process.exitCode = await run(process.argv.slice(2), io, release);
// Handles that a failed member left open do not keep the process alive.
setTimeout(() => process.exit(), 500).unref();
