/**
 * Where callbacks may go. Timers carry addresses chosen by clients, and a member stands inside a network:
 * without a guard it would call on their behalf addresses that they cannot reach themselves.
 *
 * The guard judges addresses, never names: `connect.ts` asks it about every address a name resolves to, at every
 * connection, connects only to addresses that passed, and asks once more about the address the socket ended at.
 *
 * In this order:
 *  1. The member's own listeners, peers, etcd, and the metadata services of clouds: never.
 *  2. Addresses that `callbacks.allow` lists: yes.
 *  3. Loopback: only when the member itself listens on loopback (development).
 *  4. Everything that is not the public internet: no.
 */
import { networkInterfaces } from 'node:os';
import {
  type Address,
  inRange,
  parseAddress,
  parseRange,
  type Range,
  range,
  sameAddress,
} from './address.ts';

/** A listener that no callback may reach. */
export interface Endpoint {
  /** An address or a name. An unspecified address (`0.0.0.0`, `::`) means every address of this machine. */
  readonly host: string;
  readonly port: number;
}

export interface AllowRule {
  readonly range: Range;
  /** null: any. */
  readonly port: number | null;
}

export interface GuardOptions {
  readonly allow: readonly AllowRule[];
  /** Whether the member itself listens on loopback. */
  readonly loopback: boolean;
  /**
   * Own listeners, peers, etcd. Must return the same array until something changes: a new one makes every
   * connection be judged again. A name is only compared as a name, so give its addresses too.
   */
  readonly denied: () => readonly Endpoint[];
  /** This machine's addresses; the default asks the operating system. */
  readonly machine?: () => readonly string[];
}

const loopback = [range('127.0.0.0/8'), range('::1')];
const unspecified = [range('0.0.0.0'), range('::')];
const here = [...loopback, ...unspecified];

/** Metadata services, which tell secrets to any process inside. Some lie in ranges that an allow list may open. */
const metadata = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
].map(range);

const special4 = (
  [
    ['0.0.0.0/8', 'unspecified'],
    ['10.0.0.0/8', 'private'],
    ['100.64.0.0/10', 'carrier-grade NAT'],
    ['127.0.0.0/8', 'loopback'],
    ['169.254.0.0/16', 'link-local'],
    ['172.16.0.0/12', 'private'],
    ['192.0.0.0/24', 'reserved'],
    ['192.0.2.0/24', 'documentation'],
    ['192.31.196.0/24', 'reserved'],
    ['192.52.193.0/24', 'reserved'],
    ['192.88.99.0/24', 'reserved'],
    ['192.168.0.0/16', 'private'],
    ['192.175.48.0/24', 'reserved'],
    ['198.18.0.0/15', 'benchmarking'],
    ['198.51.100.0/24', 'documentation'],
    ['203.0.113.0/24', 'documentation'],
    ['224.0.0.0/4', 'multicast'],
    ['240.0.0.0/4', 'reserved or broadcast'],
  ] as const
).map(([text, name]) => ({ range: range(text), name }));

/** The only part of IPv6 that is the public internet, and the special ranges inside it. */
const global6 = range('2000::/3');
const special6 = (
  [
    ['2001::/23', 'reserved, Teredo or benchmarking'],
    ['2001:db8::/32', 'documentation'],
    ['2002::/16', '6to4'],
    ['2620:4f:8000::/48', 'reserved'],
    ['3fff::/20', 'documentation'],
  ] as const
).map(([text, name]) => ({ range: range(text), name }));

const withPort = /^(?:\[(?<six>[^\]]+)\]|(?<four>[0-9./]+))(?::(?<port>[0-9]{1,5}))?$/;

const words: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
};

/**
 * One item of `callbacks.allow`: `10.0.0.0/8`, `10.1.2.3`, `10.0.0.0/8:8080`, `fd00::/8`, `[fd00::/8]:8080`, or
 * `loopback`, `private`, `link-local`. Throws for anything else.
 */
export function parseAllow(text: string): AllowRule[] {
  const word = Object.hasOwn(words, text) ? words[text] : undefined;
  if (word !== undefined) return word.map((one) => ({ range: range(one), port: null }));
  // An IPv6 range is full of colons: without brackets it never carries a port.
  const whole = parseRange(text);
  const groups = whole === null ? withPort.exec(text)?.groups : undefined;
  const parsed = whole ?? parseRange(groups?.['six'] ?? groups?.['four'] ?? '');
  const port = groups?.['port'] === undefined ? null : Number(groups['port']);
  if (parsed === null || (port !== null && (port < 1 || port > 65_535))) {
    throw new Error(
      `"${text}" is not an allowed range: write loopback, private, link-local, or a range with an optional port, such as 10.0.0.0/8, 10.1.2.3:8080 or [fd00::/8]:8080.`,
    );
  }
  return [{ range: parsed, port }];
}

export class Guard {
  private readonly options: GuardOptions;
  private seen: readonly Endpoint[] | null = null;
  private endpoints: { address: Address; port: number }[] = [];
  private names = new Set<string>();

  constructor(options: GuardOptions) {
    this.options = options;
  }

  /** Changes identity whenever an earlier judgement may no longer hold. */
  edition(): object {
    return this.options.denied();
  }

  /** Why callbacks may not connect to this address and port; null when they may. */
  judge(text: string, port: number): string | null {
    const address = parseAddress(text);
    if (address === null) return 'The receiver has no usable address.';
    if (matches(address, metadata)) return refusal('a metadata service');
    if (this.isDenied(address, port)) return refusal('part of this cluster');
    if (this.options.allow.some((rule) => allows(rule, address, port))) return null;
    if (this.options.loopback && matches(address, loopback)) return null;
    const kind = specialKind(address);
    return kind === null ? null : refusal(kind);
  }

  /** As `judge`, for a name that is still to be resolved. */
  judgeName(name: string, port: number): string | null {
    this.refresh();
    return this.names.has(`${bare(name)}:${port}`) ? refusal('part of this cluster') : null;
  }

  private isDenied(address: Address, port: number): boolean {
    this.refresh();
    return this.endpoints.some(
      (endpoint) => endpoint.port === port && sameHost(endpoint.address, address),
    );
  }

  private refresh(): void {
    const denied = this.options.denied();
    if (denied === this.seen) return;
    this.seen = denied;
    this.names = new Set(denied.map(({ host, port }) => `${bare(host)}:${port}`));
    const machine = (this.options.machine ?? machineAddresses)();
    this.endpoints = denied.flatMap(({ host, port }) => {
      const literal = bare(host) === 'localhost' ? '127.0.0.1' : host.replace(/^\[|\]$/g, '');
      const address = parseAddress(literal);
      if (address === null) return [];
      const everywhere = matches(address, unspecified) ? machine.map(parseAddress) : [];
      return [address, ...everywhere]
        .filter((one) => one !== null)
        .map((one) => ({ address: one, port }));
    });
  }
}

/** Every loopback address may lead to every loopback listener, and unspecified ones to this machine. */
function sameHost(endpoint: Address, address: Address): boolean {
  return sameAddress(endpoint, address) || (matches(endpoint, here) && matches(address, here));
}

function specialKind(address: Address): string | null {
  if (address.length === 16 && !inRange(address, global6)) return 'not a global IPv6 address';
  const special = address.length === 4 ? special4 : special6;
  return special.find((one) => inRange(address, one.range))?.name ?? null;
}

function matches(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some((one) => inRange(address, one));
}

function allows(rule: AllowRule, address: Address, port: number): boolean {
  return (rule.port === null || rule.port === port) && inRange(address, rule.range);
}

/** Says which kind of address, not which address: clients must not learn the inner addresses of a name. */
function refusal(kind: string): string {
  return `The receiver's address may not be called: it is ${kind}. callbacks.allow opens ranges on purpose.`;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

let addressesKnown: readonly string[] = [];

/**
 * All addresses of this machine, loopback too. A process without a free descriptor cannot ask: then the addresses it
 * last had.
 */
export function machineAddresses(ask = networkInterfaces): readonly string[] {
  try {
    const all = Object.values(ask());
    addressesKnown = all.flatMap((one) => one?.map(({ address }) => address) ?? []);
  } catch {
    return addressesKnown;
  }
  return addressesKnown;
}
