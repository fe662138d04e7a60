/** A cluster of real processes, a receiver, and a real browser that looks at the dashboard. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon } from '@carillon/client';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumFlags } from '../../scripts/chromium.ts';
import { buildDashboard } from '../../scripts/dashboard.ts';
import { CliProcess } from './cli-process.ts';
import { Receiver } from './receiver.ts';

export interface SceneMember {
  readonly name: string;
  /** Further arguments of `carillon serve`. */
  readonly args?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether it keeps its timers on disk, so that it can be started again; default: no. */
  readonly onDisk?: boolean;
}

interface Running {
  readonly url: string;
  readonly args: readonly string[];
  process: CliProcess;
}

const port = 7253;
const peerPort = 7353;

export class DashboardScene implements AsyncDisposable {
  readonly members: ReadonlyMap<string, Running>;
  readonly receiver: Receiver;
  readonly receiverUrl: string;
  readonly client: Carillon;
  private readonly folder: string;
  private browser: BrowserContext | null = null;
  /** Complaints of the browser: errors of scripts, refused resources. */
  readonly complaints: string[] = [];

  private constructor(parts: {
    members: ReadonlyMap<string, Running>;
    receiver: Receiver;
    receiverUrl: string;
    folder: string;
    client: Carillon;
  }) {
    this.members = parts.members;
    this.receiver = parts.receiver;
    this.receiverUrl = parts.receiverUrl;
    this.folder = parts.folder;
    this.client = parts.client;
  }

  /** Resolves when all members serve. */
  static async begin(
    specs: readonly SceneMember[],
    client: { readonly token?: string } = {},
  ): Promise<DashboardScene> {
    await buildDashboard();
    const folder = mkdtempSync(join(tmpdir(), 'carillon-dashboard-'));
    // Loopback addresses that no other process uses: no port can be taken.
    const net = `127.${1 + (process.pid % 250)}.${201 + ((process.pid >> 8) % 50)}`;
    const addressed = specs.map(({ name, labels = {}, args = [], onDisk = false }, i) => ({
      name,
      onDisk,
      address: `${net}.${i + 1}:${port}`,
      peer: `${net}.${i + 1}:${peerPort}`,
      labels,
      args,
    }));
    const listed = addressed.map(({ name, address, peer, labels }) => ({
      name,
      address,
      peer,
      labels,
    }));
    const file = join(folder, 'members.json');
    writeFileSync(file, JSON.stringify({ members: listed }));
    const members = new Map<string, Running>();
    for (const { name, address, onDisk, args: more } of addressed) {
      const kept = onDisk ? ['--data', join(folder, name)] : ['--memory'];
      const given = ['serve', '--json', '--name', name, '--members', file, ...kept, ...more];
      const args = [...given, '--log-level', 'error'];
      members.set(name, { url: `http://${address}`, args, process: new CliProcess(args) });
    }
    const receiver = new Receiver();
    const receiverUrl = await receiver.listen();
    const urls = [...members.values()].map(({ url }) => url);
    const scene = new DashboardScene({
      members,
      receiver,
      receiverUrl,
      folder,
      client: new Carillon({ members: urls, refresh: null, ...client }),
    });
    for (const { process: started } of members.values()) {
      await started.line((line) => typeof line['url'] === 'string');
    }
    return scene;
  }

  url(name: string): string {
    return this.member(name).url;
  }

  async kill(name: string): Promise<void> {
    await this.member(name).process.kill('SIGKILL');
  }

  /** Starts a member again that has ended, with the files that it left. */
  async revive(name: string): Promise<void> {
    const member = this.member(name);
    member.process = new CliProcess([...member.args]);
    await member.process.line((line) => typeof line['url'] === 'string');
  }

  /** Stops a member in order and starts it again. */
  async restart(name: string): Promise<void> {
    await this.member(name).process.kill('SIGTERM');
    await this.revive(name);
  }

  /** A fresh browser with its page at the dashboard of a member. */
  async open(name: string, executablePath: string, options: object = {}): Promise<Page> {
    this.browser = await chromium.launchPersistentContext(join(this.folder, 'profile'), {
      executablePath,
      args: [...chromiumFlags],
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    // A busy machine may take long to start a browser and its first page.
    this.browser.setDefaultNavigationTimeout(120_000);
    const page = this.browser.pages()[0] ?? (await this.browser.newPage());
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      const { origin } = new URL(request.url());
      if (origin !== this.url(name)) this.complaints.push(`asked ${origin} for something`);
    });
    await page.goto(`${this.url(name)}/`);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser?.close();
    await Promise.all([...this.members.values()].map(({ process: one }) => one.kill('SIGKILL')));
    this.receiver.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private member(name: string): Running {
    const found = this.members.get(name);
    if (found === undefined) throw new Error(`There is no member ${name}.`);
    return found;
  }
}
