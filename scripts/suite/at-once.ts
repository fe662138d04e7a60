/**
 * Runs scripts of package.json beside each other: `node scripts/suite/at-once.ts format tidy lint`. Setting up waits
 * for the network and the source rules use one processor, so in turns they would leave the other one idle. The output
 * of each comes whole when it ends; one that fails does not stop the others, so that all findings are seen at once.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const PATH = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);

/** Whether it passed. */
async function run(name: string): Promise<boolean> {
  const startedMs = performance.now();
  const command = scripts[name];
  if (command === undefined) throw new Error(`package.json has no script "${name}".`);
  const child = spawn('sh', ['-c', `{ ${command}; } 2>&1`], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PATH },
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [output, code] = await Promise.all([text(child.stdout), ended]);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${name}: ${code === 0 ? 'passed' : 'FAILED'} after ${seconds} s\n${output}`);
  return code === 0;
}

const passed = await Promise.all(process.argv.slice(2).map(run));
if (passed.includes(false)) process.exitCode = 1;
