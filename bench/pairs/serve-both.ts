/**
 * Several members in one process, each with its own arguments of `carillon serve` as JSON: they share the code that V8
 * has made fast. Two processes of the same code differ by up to a tenth, by how V8 happened to compile it.
 */
import { release } from '../../packages/cli/src/index.ts';
import type { Io } from '../../packages/cli/src/command.ts';
import { run } from '../../packages/cli/src/run.ts';

const controller = new AbortController();
process.on('SIGTERM', () => controller.abort());

const lists = process.argv.slice(2).map((text) => JSON.parse(text) as string[]);
const lines = await Promise.all(lists.map((args) => serve(args)));
// All of them serve: the first line stands for all.
console.log(lines[0]);

/** The line that `carillon serve --json` prints when it serves. */
function serve(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const io: Io = {
      out: resolve,
      err: (text) => console.error(text),
      terminal: false,
      color: false,
      errColor: false,
      env: process.env,
      input: process.stdin,
      signal: controller.signal,
    };
    run(['serve', '--json', ...args], io, release).then((code) => {
      reject(new Error(`A member ended with ${code}.`));
    }, reject);
  });
}
