/** One member as a process that can be killed, paused, stopped and started again with its name and its data. */
import { CliProcess, type Ended } from '../cli-process.ts';

export interface RealMemberOptions {
  readonly name: string;
  /** `host:port` of the API. */
  readonly address: string;
  /** `host:port` for other members. */
  readonly peer: string;
  readonly args: readonly string[];
  /** The command in front of the binary, such as `ip netns exec …`. */
  readonly via: readonly string[];
}

/** One member in the answer of `GET /cluster`. */
export interface MemberLine {
  readonly name: string;
  readonly phase: string;
  readonly self: boolean;
  readonly reachable: boolean;
  readonly timers: number | null;
  readonly primaries: number | null;
}

export interface ClusterAnswer {
  readonly members: readonly MemberLine[];
  readonly resync: { readonly running: boolean; readonly moved: number };
  readonly repair: { readonly 'unconfirmed-records': number; readonly 'under-replicated': number };
  readonly damage: {
    readonly state: string;
    readonly 'entries-lost': number;
    readonly 'records-fetched': number;
  } | null;
}

export class RealMember {
  readonly name: string;
  readonly url: string;
  readonly peer: string;
  private readonly options: RealMemberOptions;
  private process: CliProcess | null = null;

  constructor(options: RealMemberOptions) {
    this.options = options;
    this.name = options.name;
    this.peer = options.peer;
    this.url = `http://${options.address}`;
  }

  get running(): boolean {
    return this.process !== null;
  }

  /** Null: it does not run. */
  get pid(): number | null {
    return this.process?.pid ?? null;
  }

  /** How the process ends by itself. */
  get ended(): Promise<Ended> {
    if (this.process === null) throw new Error(`${this.name} does not run.`);
    return this.process.ended;
  }

  /** Resolves when it serves. `program`: of another release. */
  async start(program?: string): Promise<void> {
    const started = this.launch(program);
    this.process = started;
    void started.ended.then(() => {
      if (this.process === started) this.process = null;
    });
    await started.line((line) => typeof line['url'] === 'string');
  }

  /** The process alone: it may refuse to serve. */
  launch(program?: string): CliProcess {
    const { args, via } = this.options;
    const given = program === undefined ? {} : { program };
    return new CliProcess(['serve', '--json', ...args], {}, via, given);
  }

  async kill(): Promise<void> {
    await this.process?.kill('SIGKILL');
  }

  /** Stops it after the requests and callbacks under way. */
  async stop(): Promise<Ended | null> {
    return (await this.process?.kill('SIGTERM')) ?? null;
  }

  /** Makes it read its files again. */
  reload(): void {
    this.process?.signal('SIGHUP');
  }

  pause(): void {
    this.process?.signal('SIGSTOP');
  }

  resume(): void {
    this.process?.signal('SIGCONT');
  }

  async cluster(): Promise<ClusterAnswer> {
    const answer = await fetch(`${this.url}/cluster`, { signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(`${this.name} answered ${answer.status}.`);
    return (await answer.json()) as ClusterAnswer;
  }

  /** A metric, all its label sets that fit added up. */
  async metric(name: RegExp): Promise<number> {
    const answer = await fetch(`${this.url}/metrics`, { signal: AbortSignal.timeout(5000) });
    return (await answer.text())
      .split('\n')
      .filter((line) => name.test(line))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Live timers this member holds a copy of. */
  copies(): Promise<number> {
    return this.metric(/^carillon_timers\{state="(pending|retrying)"\}/);
  }

  /** Its last lines of output, for the report of a failure. */
  get lastWords(): string {
    const lines = [...(this.process?.lines ?? []), ...(this.process?.errors ?? [])].slice(-20);
    return lines.map((line) => `${this.name}: ${line}`).join('\n');
  }
}
