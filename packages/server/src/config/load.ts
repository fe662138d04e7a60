/**
 * Reads a configuration: defaults < file < environment < flags. Pure apart from the reader it is given. Finds up
 * to twenty problems at once; each is a sentence that names the option, its source and a right value.
 */
import { nearestWord } from '@carillon/core';
import { type Config, configOf, eachOption, type OptionEntry } from './config.ts';
import { Wrong } from './options/kinds.ts';
import { parseYaml } from './yaml.ts';

/** Where a value came from, for `carillon config print`. */
export interface ConfigOrigin {
  readonly source: 'default' | 'file' | 'environment' | 'flag';
  /** The file's path, the variable or the flag. */
  readonly name: string;
}

export interface ConfigEntry {
  readonly key: string;
  readonly value: unknown;
  readonly origin: ConfigOrigin;
  readonly secret: boolean;
}

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly entries: readonly ConfigEntry[] }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface ConfigSources {
  /** Flags as on the command line, without the leading dashes: `{ 'log-level': 'debug' }`. `config` names the file. */
  readonly flags?: Readonly<Record<string, string | readonly string[]>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly readFile?: (path: string) => string;
}

/** `limits.bodyBytesMax` → `limits-body-bytes-max`. */
export function flagOf(key: string): string {
  return key.replaceAll('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `limits.bodyBytesMax` → `CARILLON_LIMITS_BODY_BYTES_MAX`. */
export function variableOf(key: string): string {
  return `CARILLON_${flagOf(key).replaceAll('-', '_').toUpperCase()}`;
}

export function loadConfig(sources: ConfigSources): LoadedConfig {
  const load = new Load(eachOption());
  const file = sources.flags?.['config'] ?? sources.env?.['CARILLON_CONFIG'];
  if (typeof file === 'string' && file !== '') load.file(file, sources.readFile);
  load.environment(sources.env ?? {});
  load.flags(sources.flags ?? {});
  return load.finish();
}

// Not options of a member: the configuration file, variables of the command-line client, and variables that Kubernetes
// sets in every container beside a service named carillon.
const foreignVariable = /^CARILLON_(CONFIG|URL|TOKEN|NAMESPACE|PORT|PORT_.*|SERVICE_.*)$/;

/** Problems that are reported: a member that reads its file again while it runs must not check thousands of values. */
const problemCountMax = 20;
/** Characters of a wrong value that a problem shows. */
const shownLengthMax = 200;

class Load {
  private readonly byKey: Map<string, OptionEntry>;
  private readonly values = new Map<string, unknown>();
  private readonly origins = new Map<string, ConfigOrigin>();
  private readonly problems: string[] = [];

  constructor(entries: readonly OptionEntry[]) {
    this.byKey = new Map(entries.map((entry) => [entry.key, entry]));
  }

  file(path: string, readFile: ConfigSources['readFile']): void {
    let content: unknown;
    try {
      content = parseYaml(readFile?.(path) ?? '');
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
      this.problems.push(`The configuration file ${path} cannot be read: ${why}`);
      return;
    }
    if (content === null) return;
    if (typeof content !== 'object' || Array.isArray(content)) {
      this.problems.push(`The configuration file ${path} must hold an object of options.`);
      return;
    }
    this.group(content, '', path);
  }

  environment(env: Readonly<Record<string, string | undefined>>): void {
    const byVariable = new Map([...this.byKey.keys()].map((key) => [variableOf(key), key]));
    for (const [name, raw] of Object.entries(env)) {
      // Empty means not set: compose files pass on variables without a value.
      if (!name.startsWith('CARILLON_') || !raw || foreignVariable.test(name)) continue;
      const key = byVariable.get(name);
      if (key === undefined) {
        this.unknown(`The environment variable ${name}`, name, [...byVariable.keys()]);
      } else this.take(key, raw, { source: 'environment', name });
    }
  }

  flags(flags: Readonly<Record<string, string | readonly string[]>>): void {
    const byFlag = new Map([...this.byKey.keys()].map((key) => [flagOf(key), key]));
    for (const [flag, raw] of Object.entries(flags)) {
      if (flag === 'config') continue;
      const key = byFlag.get(flag);
      const name = `--${flag}`;
      if (key === undefined) this.unknown(`The flag ${name}`, flag, [...byFlag.keys()]);
      else this.take(key, typeof raw === 'string' ? raw : raw.join(','), { source: 'flag', name });
    }
  }

  finish(): LoadedConfig {
    const config = configOf(this.values);
    // Rules between options are only worth a word when each option is right by itself.
    if (this.problems.length === 0) this.problems.push(...conflicts(config));
    if (this.problems.length > 0) return { ok: false, problems: this.problems };
    const entries = [...this.byKey.values()].map(({ key, spec }) => ({
      key,
      value: this.values.has(key) ? this.values.get(key) : spec.value,
      origin: this.origins.get(key) ?? { source: 'default' as const, name: 'default' },
      secret: spec.secret,
    }));
    return { ok: true, config, entries };
  }

  private group(content: object, prefix: string, path: string): void {
    for (const [name, raw] of Object.entries(content) as [string, unknown][]) {
      if (this.problems.length >= problemCountMax) return;
      const key = prefix + name;
      if (this.byKey.has(key)) this.take(key, raw, { source: 'file', name: path });
      else if (!this.isGroup(key)) {
        this.unknown(`The option ${key} in ${path}`, key, [...this.byKey.keys(), ...this.groups()]);
      } else if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) {
        this.group(raw, `${key}.`, path);
      } else this.problems.push(`The option ${key} in ${path} must hold an object of options.`);
    }
  }

  private isGroup(key: string): boolean {
    return [...this.byKey.keys()].some((known) => known.startsWith(`${key}.`));
  }

  /** `callbacks` of `callbacks.timeoutMs`. */
  private groups(): string[] {
    return [...this.byKey.keys()].flatMap((key) => {
      const parts = key.split('.').slice(0, -1);
      return parts.map((_, i) => parts.slice(0, i + 1).join('.'));
    });
  }

  private take(key: string, raw: unknown, origin: ConfigOrigin): void {
    const spec = this.byKey.get(key)?.spec;
    const value = spec?.kind(raw);
    if (value instanceof Wrong) {
      const shown = spec?.secret ? 'the value given' : shownOf(raw);
      const where =
        origin.source === 'file' ? `${key} in ${origin.name}` : `${key} (${origin.name})`;
      this.problems.push(`The option ${where} must be ${value.expected}, not ${shown}.`);
      return;
    }
    this.values.set(key, value);
    this.origins.set(key, origin);
  }

  private unknown(what: string, given: string, known: readonly string[]): void {
    const near = nearestWord(given, known, Math.max(2, Math.floor(given.length / 4)));
    const hint =
      near === null ? '' : `; did you mean ${what.startsWith('The flag') ? '--' : ''}${near}?`;
    this.problems.push(`${what} is not known${hint === '' ? '.' : hint}`);
  }
}

function conflicts(config: Config): string[] {
  const { limits, callbacks, retry, cluster, etcd, tls } = config;
  const found: string[] = [];
  const rule = (holds: boolean, sentence: string) => {
    if (!holds) found.push(sentence);
  };
  rule(
    limits.headersTimeoutMs <= limits.requestTimeoutMs,
    'The option limits.requestTimeoutMs must not be below limits.headersTimeoutMs: headers are part of the request.',
  );
  rule(
    limits.bodyBytesMax <= limits.batchBodyBytesMax,
    'The option limits.batchBodyBytesMax must not be below limits.bodyBytesMax.',
  );
  rule(
    callbacks.timeoutMs <= callbacks.timeoutMsMax,
    'The option callbacks.timeoutMsMax must not be below callbacks.timeoutMs.',
  );
  rule(
    retry.baseMs <= retry.waitMsMax,
    'The option retry.waitMsMax must not be below retry.baseMs.',
  );
  rule(
    cluster.membersFile === null || cluster.etcdEndpoints.length === 0,
    'The options cluster.membersFile and cluster.etcdEndpoints exclude each other: a view has one source.',
  );
  rule(
    (tls.certificate === null) === (tls.key === null),
    'The options tls.certificate and tls.key belong together: give both.',
  );
  const peerTls = Object.values(cluster.tls).filter((file) => file !== null);
  rule(
    peerTls.length === 0 || peerTls.length === 3,
    'The options cluster.tls.certificate, cluster.tls.key and cluster.tls.ca belong together: give all three.',
  );
  rule(
    (etcd.certificate === null) === (etcd.key === null),
    'The options etcd.certificate and etcd.key belong together: give both.',
  );
  const secret = etcd.passwordFile === null ? 'etcd.password' : 'etcd.passwordFile';
  rule(
    etcd.user !== null || (etcd.password === null && etcd.passwordFile === null),
    `The option ${secret} needs etcd.user: the name of the user whose password it is.`,
  );
  rule(
    etcd.user === null || etcd.password !== null || etcd.passwordFile !== null,
    'The option etcd.user goes with a password: etcd.passwordFile, or etcd.password.',
  );
  return found;
}

function shownOf(raw: unknown): string {
  const text = JSON.stringify(raw) ?? 'nothing';
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text;
}
