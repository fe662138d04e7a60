/**
 * Members in network namespaces of their own, joined by a bridge, so that any two of them can be cut off from each
 * other, or one of them from a port of the host (etcd), while all still reach the receiver. Needs root, `ip` and
 * `iptables`; everything is removed again by `end`.
 */
import { execFileSync } from 'node:child_process';

export class Namespaces {
  /** Address of the host on the bridge: the receiver listens here. */
  readonly hostAddress: string;
  private readonly id = (process.pid % 100_000).toString(36);
  private readonly net = `10.231.${1 + (process.pid % 250)}`;
  private readonly names: string[] = [];

  private constructor() {
    this.hostAddress = `${this.net}.254`;
  }

  /** Why they cannot be had here; null: they can. */
  static obstacle(): string | null {
    if (process.platform !== 'linux') return 'network namespaces need Linux';
    if (process.getuid?.() !== 0) return 'network namespaces need root';
    const probe = new Namespaces();
    try {
      probe.open(1);
      run('ip', ['netns', 'exec', probe.nameOf(0), 'iptables', '--list', '--numeric']);
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      probe.end();
    }
  }

  static create(count: number): Namespaces {
    const namespaces = new Namespaces();
    try {
      namespaces.open(count);
    } catch (error) {
      namespaces.end();
      throw error;
    }
    return namespaces;
  }

  addressOf(index: number): string {
    return `${this.net}.${index + 1}`;
  }

  /** The words in front of a command that is to run there. */
  via(index: number): string[] {
    return ['ip', 'netns', 'exec', this.nameOf(index)];
  }

  /** Drops all packets between these two, both ways; the returned function undoes that. */
  cut(one: number, other: number): () => void {
    const undo = [
      this.drop(one, ['INPUT', '--source', this.addressOf(other)]),
      this.drop(other, ['INPUT', '--source', this.addressOf(one)]),
    ];
    return () => undo.forEach((each) => each());
  }

  /** Drops all packets between a member and this port of the host, both ways; the returned function undoes that. */
  cutFromHost(index: number, port: number): () => void {
    const tcp = ['--protocol', 'tcp'];
    const out = ['--destination', this.hostAddress, ...tcp, '--dport', String(port)];
    const back = ['--source', this.hostAddress, ...tcp, '--sport', String(port)];
    const undo = [this.drop(index, ['OUTPUT', ...out]), this.drop(index, ['INPUT', ...back])];
    return () => undo.forEach((each) => each());
  }

  private drop(index: number, which: readonly string[]): () => void {
    const rule = (does: string): void => {
      const what = [does, ...which, '--jump', 'DROP'];
      run('ip', ['netns', 'exec', this.nameOf(index), 'iptables', '--wait', ...what]);
    };
    rule('--append');
    return () => rule('--delete');
  }

  end(): void {
    for (const name of this.names.splice(0)) attempt('ip', ['netns', 'delete', name]);
    attempt('ip', ['link', 'delete', this.bridge]);
  }

  private get bridge(): string {
    return `cb${this.id}`;
  }

  private nameOf(index: number): string {
    return `carillon-${this.id}-${index}`;
  }

  private open(count: number): void {
    run('ip', ['link', 'add', this.bridge, 'type', 'bridge']);
    run('ip', ['address', 'add', `${this.hostAddress}/24`, 'dev', this.bridge]);
    run('ip', ['link', 'set', this.bridge, 'up']);
    for (let i = 0; i < count; i++) this.add(i);
  }

  private add(index: number): void {
    const name = this.nameOf(index);
    const cable = `cv${this.id}${index}`;
    run('ip', ['netns', 'add', name]);
    this.names.push(name);
    run('ip', ['link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
    run('ip', ['link', 'set', cable, 'master', this.bridge, 'up']);
    run('ip', ['-n', name, 'address', 'add', `${this.addressOf(index)}/24`, 'dev', 'eth0']);
    run('ip', ['-n', name, 'link', 'set', 'eth0', 'up']);
    run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
  }
}

function run(command: string, given: readonly string[]): void {
  execFileSync(command, given, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
}

function attempt(command: string, given: readonly string[]): void {
  try {
    run(command, given);
  } catch {
    // It was never made.
  }
}
