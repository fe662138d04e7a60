/** An empty project beside a local registry, into which packages are published and from which they are installed. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { LocalRegistry } from '../local-registry.ts';
import { packPackages } from '../pack.ts';

const execute = promisify(execFile);

export interface Serving {
  readonly url: string;
  /** The exit code. */
  stop(): Promise<number | null>;
}

export class EmptyProject {
  readonly folder: string;
  readonly registry: LocalRegistry;
  /** The member that programs of the project talk to. */
  server = '';
  private readonly home: string;

  private constructor(home: string, registry: LocalRegistry) {
    this.home = home;
    this.folder = join(home, 'project');
    this.registry = registry;
  }

  static async create(): Promise<EmptyProject> {
    const { stdout } = await execute('npm', ['config', 'get', 'registry']);
    const registry = await LocalRegistry.start(stdout.trim());
    const home = mkdtempSync(join(tmpdir(), 'carillon-rehearsal-'));
    const project = new EmptyProject(home, registry);
    mkdirSync(project.folder);
    project.write('package.json', JSON.stringify({ name: 'shop', private: true, type: 'module' }));
    return project;
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  async publish(): Promise<void> {
    const packed = packPackages(join(this.home, 'packed'), 'publish');
    const archives = packed.map(({ archive }) => archive);
    await Promise.all(archives.map((archive) => this.npm('publish', archive)));
  }

  async install(...names: string[]): Promise<void> {
    await this.npm('install', '--no-audit', '--no-fund', ...names);
  }

  /** The output of a program, run in the project; rejects with it when the program fails. */
  async run(program: string, ...given: string[]): Promise<string> {
    const { PATH } = process.env;
    const env = { PATH, NO_COLOR: '1', CARILLON_SERVER: this.server };
    try {
      const options = { cwd: this.folder, timeout: 240_000, env };
      return (await execute(program, given, options)).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${program} ${given.join(' ')} failed:\n${stdout}${stderr}`, {
        cause: error,
      });
    }
  }

  /** Starts a member by a command that prints its address as JSON. */
  async serve(program: string, ...given: string[]): Promise<Serving> {
    const flags = ['--memory', '--listen', '127.0.0.1:0', '--log-level', 'silent', '--json'];
    const child = spawn(program, [...given, 'serve', ...flags], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own: npx ends without ending the command that it started.
      detached: true,
    });
    const ended = once(child, 'exit') as Promise<[number | null]>;
    const line = once(createInterface(child.stdout), 'line') as Promise<[string]>;
    const [first] = await Promise.race([
      line,
      ended.then(([code]) => Promise.reject(new Error(`${program} ended with ${code}.`))),
    ]);
    const { url } = JSON.parse(first) as { url: string };
    const stop = async (): Promise<number | null> => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      return (await ended)[0];
    };
    return { url, stop };
  }

  remove(): void {
    this.registry.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** npm with a cache of its own, empty at first; publishing takes any token. */
  private async npm(...given: string[]): Promise<void> {
    const { url } = this.registry;
    const access = `--${url.slice('http:'.length)}:_authToken=rehearsal`;
    const cache = join(this.home, 'cache');
    const flags = ['--registry', url, access, '--cache', cache, '--loglevel', 'error'];
    await execute('npm', [...given, ...flags], { cwd: this.folder, timeout: 280_000 });
  }
}
