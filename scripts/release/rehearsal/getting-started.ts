/** docs/getting-started.md, followed in an empty project, with free ports in the place of the page's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmptyProject } from './empty-project.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/getting-started.md'), 'utf8');
const pagePorts = [7253, 7254, 7255, 7353, 7354, 7355, 8080];
/** Waiting is for a busy machine; each step takes a second or two. */
const waitMs = 60_000;

export interface Followed {
  /** The commands and their output, in order. */
  readonly lines: string[];
}

/** `nextProgram`: the sources of the release to upgrade to. */
export async function followGettingStarted(
  project: EmptyProject,
  nextProgram: string,
): Promise<Followed> {
  const ports = await freePorts(pagePorts.length);
  const place = (text: string): string =>
    pagePorts.reduce((placed, port, i) => placed.replaceAll(`${port}`, `${ports[i]}`), text);
  project.write('app.ts', place(block('// app.ts')));
  project.write('members.yaml', place(block('# members.yaml')));
  const follower = new Follower(project.folder, place);
  try {
    const serve = commandIn('npx carillon serve\n');
    const alone = await follower.start(`${serve} --listen 127.0.0.1:7253`, serve);
    await follower.signUp('ada');
    await alone.stop();
    const serving = ['a', 'b', 'c'].map((name) => commandIn(`--name ${name} `));
    const members: Running[] = [];
    for (const command of serving) members.push(await follower.start(command));
    await follower.allIsWell();
    await follower.signUp('grace');
    for (const [i, command] of serving.entries()) {
      await members[i]?.stop();
      const upgraded = command.replace(
        'npx carillon',
        `${process.execPath} --conditions=source ${nextProgram}`,
      );
      members[i] = await follower.start(
        upgraded,
        `${command}   # by the test build of the next release`,
      );
      await follower.allIsWell();
      await follower.signUp(`edsger-${i}`);
    }
    return { lines: follower.lines };
  } finally {
    follower.end();
  }
}

interface Running {
  stop(): Promise<void>;
}

class Follower {
  readonly lines: string[] = [];
  private readonly children: ChildProcess[] = [];
  private app: ChildProcess | null = null;
  private said = '';
  private readonly folder: string;
  private readonly place: (text: string) => string;

  constructor(folder: string, place: (text: string) => string) {
    this.folder = folder;
    this.place = place;
  }

  /** Starts a member, in a group of its own: npx ends without ending the command that it started. */
  async start(command: string, shown = command): Promise<Running> {
    this.lines.push(`$ ${shown}`);
    const [program = '', ...given] = `${this.place(command)} --json --log-level error`.split(' ');
    const child = this.launch(program, given);
    const ended = once(child, 'exit');
    const [first] = (await Promise.race([
      once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'),
      ended.then(([code]) => Promise.reject(new Error(`${command} ended with ${code}.`))),
    ])) as [Buffer];
    this.lines.push(first.toString().trim());
    return {
      stop: async () => {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
        await ended;
      },
    };
  }

  /** A request to the app, and the callback two seconds later. */
  async signUp(customer: string): Promise<void> {
    if (this.app === null) {
      this.lines.push('$ node app.ts');
      this.app = this.launch(process.execPath, ['app.ts']);
      this.app.stdout?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
    }
    const url = this.place(`http://127.0.0.1:8080/customers/${customer}`);
    this.lines.push(`$ curl -X POST ${url}`);
    await within(async () => {
      const answer = await fetch(url, { method: 'POST' }).catch(() => null);
      if (answer === null) return false;
      if (!answer.ok) throw new Error(`The app answered ${answer.status}: ${await answer.text()}`);
      this.lines.push((await answer.text()).trim());
      return true;
    });
    const sentence = `The trial of ${customer} is over.`;
    await within(() => Promise.resolve(this.said.includes(sentence)));
    this.lines.push(sentence);
  }

  async allIsWell(): Promise<void> {
    this.lines.push('$ npx carillon cluster status');
    const server = this.place('http://127.0.0.1:7253');
    await within(async () => {
      const child = this.launch('npx', ['carillon', 'cluster', 'status', '--server', server]);
      let out = '';
      child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      if (code === 0 && out.includes('b') && out.includes('c')) this.lines.push(out.trim());
      return code === 0;
    });
  }

  end(): void {
    for (const { pid, exitCode, signalCode } of this.children) {
      if (pid !== undefined && exitCode === null && signalCode === null)
        process.kill(-pid, 'SIGKILL');
    }
  }

  private launch(program: string, given: readonly string[]): ChildProcess {
    const { PATH } = process.env;
    const child = spawn(program, given, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH, NO_COLOR: '1' },
      detached: true,
    });
    this.children.push(child);
    return child;
  }
}

async function within(look: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + waitMs; performance.now() < endMs; ) {
    if (await look()) return;
    await sleep(100);
  }
  throw new Error('A step of the page has no effect within a minute.');
}

/** The block of the page that begins with a line. */
function block(firstLine: string): string {
  const found = [...page.matchAll(/^```\w+\n(.*?)^```/gms)]
    .map(([, text = '']) => text)
    .find((text) => text.startsWith(firstLine));
  if (found === undefined) throw new Error(`The page has no block "${firstLine}".`);
  return found;
}

/** The command of the page that has some words. */
function commandIn(words: string): string {
  const at = page.indexOf(words);
  if (at < 0) throw new Error(`The page has no command with "${words}".`);
  return page.slice(page.lastIndexOf('\n', at) + 1, page.indexOf('\n', at)).trim();
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
