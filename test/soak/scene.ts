/**
 * The scene of a soak: three members as processes and a guest, with a secret between them and tokens for clients;
 * clients and the receiver in this process. With root each member has a network namespace of its own, so that it can
 * be cut off; where there is an etcd they meet in it, elsewhere by a members file. A part that cannot be had is
 * named, and left out.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '@carillon/core/testing';
import { newNumberKey, newToken, renderTokens, tokenDigest } from '@carillon/server';
import { History } from '../../packages/sim/src/history.ts';
import { Load } from '../e2e/support/load.ts';
import { Namespaces } from '../e2e/support/namespaces.ts';
import { RealCluster } from '../e2e/support/real-cluster.ts';
import { Recorder, someMember } from '../e2e/support/recorder.ts';
import { until } from '../e2e/support/until.ts';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';
import { Windows } from './windows.ts';

export interface SceneOptions {
  readonly setsPerSecond: number;
  readonly seed: number;
}

/** These are always there; the first is never killed nor restarted, so that one process lives through it all. */
export const names = ['n0', 'n1', 'n2'] as const;
export const guest = 'n3';
const all: readonly string[] = [...names, guest];
/** The least that can be set: memory is level after minutes, not after an hour. Longer than any fault lasts. */
const tombstoneMs = 60_000;
const lastPopsMs = 60_000;

/** Where everything runs. */
interface Stage {
  readonly folder: string;
  readonly namespaces: Namespaces | null;
  readonly etcd: EtcdCluster | null;
  /** Why some faults cannot be had, in sentences. */
  readonly skipped: readonly string[];
}

export class Scene {
  readonly windows = new Windows();
  readonly history = new History();
  readonly random: SeededRandom;
  readonly stage: Stage;
  readonly cluster: RealCluster;
  readonly recorder: Recorder;
  readonly load: Load;

  private constructor(
    stage: Stage,
    parts: { readonly cluster: RealCluster; readonly recorder: Recorder; readonly uri: string },
    { seed, setsPerSecond }: SceneOptions,
  ) {
    const { cluster, recorder, uri } = parts;
    this.stage = stage;
    this.cluster = cluster;
    this.recorder = recorder;
    this.random = new SeededRandom(seed);
    this.load = new Load({
      history: this.history,
      seed,
      urls: () => names.map((name) => cluster.member(name).url),
      uri,
      setsPerSecond,
      factor: 2,
      // Below 4 s the others cannot wait for a member that has no processor for a second.
      intervalMsMin: 4000,
      intervalMsMax: 6000,
    });
  }

  static async begin(options: SceneOptions): Promise<Scene> {
    const stage = await openStage();
    const { namespaces } = stage;
    const addresses = all.map((_, index) => namespaces?.addressOf(index));
    const recorder = new Recorder((address) => all[addresses.indexOf(address)] ?? someMember);
    const uri = await recorder.listen(namespaces?.hostAddress);
    try {
      const cluster = await startCluster(stage);
      return new Scene(stage, { cluster, recorder, uri }, options);
    } catch (error) {
      recorder.close();
      await closeStage(stage);
      throw error;
    }
  }

  get secretFile(): string {
    return secretIn(this.stage.folder);
  }

  /** Resolves when no live timer is left anywhere; rejects when some stay. */
  async finish(): Promise<void> {
    await this.load.stop();
    await until('no timer is left at any member', lastPopsMs, async () => {
      return (await this.cluster.copies()) === 0;
    });
  }

  /** Opaque and sequence of all pops that were given up. */
  async deadLetters(): Promise<Set<string>> {
    const found = new Set<string>();
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const url = `${this.cluster.member(names[0]).url}/dead-letters?limit=100${query}`;
      const page = (await (await fetch(url)).json()) as LetterPage;
      for (const { callback, sequence, missed } of page['dead-letters']) {
        const { opaque } = callback.http;
        for (let k = sequence - missed; k <= sequence; k++) found.add(`${opaque} ${k}`);
      }
      ({ cursor } = page);
    }
    return found;
  }

  async end(): Promise<void> {
    await this.load.stop();
    await this.cluster.end();
    this.recorder.close();
    await closeStage(this.stage);
  }
}

interface LetterPage {
  readonly 'dead-letters': readonly {
    readonly callback: { readonly http: { readonly opaque: string } };
    readonly sequence: number;
    readonly missed: number;
  }[];
  readonly cursor: string | null;
}

async function openStage(): Promise<Stage> {
  const skipped: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'carillon-soak-'));
  const obstacle = Namespaces.obstacle();
  if (obstacle !== null) skipped.push(`No member is cut off from anybody: ${obstacle}.`);
  const namespaces = obstacle === null ? Namespaces.create(all.length) : null;
  const paths = etcdForTests();
  if (paths === null) {
    skipped.push('No member is cut off from etcd: there is none; members meet by a file instead.');
    return { folder, namespaces, etcd: null, skipped };
  }
  const host = namespaces === null ? {} : { host: namespaces.hostAddress };
  const etcd = await EtcdCluster.start({ paths, ...host });
  return { folder, namespaces, etcd, skipped };
}

async function closeStage({ folder, namespaces, etcd }: Stage): Promise<void> {
  await etcd?.stop();
  namespaces?.end();
  rmSync(folder, { recursive: true, force: true });
}

async function startCluster({ folder, namespaces, etcd }: Stage): Promise<RealCluster> {
  writeFileSync(secretIn(folder), randomBytes(32).toString('hex'));
  const flags = [
    `--cluster-secret-file=${secretIn(folder)}`,
    `--auth-tokens=${writeTokens(folder)}`,
    `--tombstone-retention-ms=${tombstoneMs}`,
    ...(namespaces === null ? [] : [`--callbacks-allow=${namespaces.hostAddress}/32`]),
  ];
  const cluster = await RealCluster.start({
    names,
    flags,
    ...(etcd !== null && { etcd: etcd.endpoints }),
    ...(namespaces !== null && {
      hostOf: (index: number) => namespaces.addressOf(index),
      viaOf: (index: number) => namespaces.via(index),
    }),
  });
  cluster.add(guest);
  return cluster;
}

function secretIn(folder: string): string {
  return join(folder, 'secret');
}

/**
 * The path of a file with one token, which all requests of this process carry from now on: the helpers of the tests
 * know of none.
 */
function writeTokens(folder: string): string {
  const { id, text } = newToken(randomBytes);
  const created = new Date().toISOString();
  const about = { name: 'soak', scope: 'admin', namespace: '*', created, until: null } as const;
  const path = join(folder, 'tokens.json');
  const tokens = [{ id, ...about, digest: tokenDigest(text) }];
  writeFileSync(path, renderTokens({ tokens, numberKey: newNumberKey(randomBytes) }));
  const plain = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${text}`);
    return plain(input, { ...init, headers });
  };
  return path;
}
