/**
 * Endpoints that no timer may call: the cluster itself. Own listeners, listeners of the other members, and etcd; where
 * one is given by name, the addresses behind the name too, asked for again and again, because a name may lead elsewhere
 * tomorrow.
 *
 * `all` is a new list whenever something changed, so that connections that are kept alive are judged again.
 */
import { isIP } from 'node:net';
import { type Cancel, type Clock, nextRoundMs } from '@carillon/core';
import { type Endpoint, machineAddresses } from './guard.ts';
import type { Resolve } from './resolve.ts';

export interface DeniedOptions {
  readonly clock: Clock;
  readonly resolve: Resolve;
  /** Own listeners and etcd. */
  readonly fixed: readonly Endpoint[];
  /** This machine's addresses, where a listener has them all. */
  readonly machine?: () => readonly string[];
}

const lookAgainMs = 10_000;

export class Denied {
  private readonly options: DeniedOptions;
  private members: readonly Endpoint[] = [];
  /** Name → the addresses it had when it last had any. */
  private addresses: ReadonlyMap<string, readonly string[]> = new Map();
  private list: readonly Endpoint[];
  private machine = '';
  private cancel: Cancel | null = null;
  private closed = false;

  constructor(options: DeniedOptions) {
    this.options = options;
    this.list = options.fixed;
  }

  get all(): readonly Endpoint[] {
    return this.list;
  }

  /** Resolves when every name has been looked up once. */
  async start(): Promise<void> {
    await this.look();
    this.lookLater();
  }

  /** The listeners of a new view. */
  setMembers(members: readonly Endpoint[]): void {
    this.members = members;
    this.rebuild();
    this.lookAgain();
  }

  close(): void {
    this.closed = true;
    this.cancel?.();
  }

  private async look(): Promise<void> {
    const { resolve, fixed } = this.options;
    const names = new Set(
      [...fixed, ...this.members].map(({ host }) => host).filter((host) => isName(host)),
    );
    const found = await Promise.all(
      [...names].map(async (name) => {
        const addresses = await new Promise<readonly string[]>((done) => resolve(name, done));
        // A name server that is away takes no protection away.
        const kept = addresses.length > 0 ? addresses : (this.addresses.get(name) ?? []);
        return [name, kept.toSorted()] as const;
      }),
    );
    if (this.closed) return;
    const machine = (this.options.machine ?? machineAddresses)().join();
    const changed = found.some(
      ([name, addresses]) => addresses.join() !== (this.addresses.get(name) ?? []).join(),
    );
    this.addresses = new Map(found);
    // A new list also makes the guard ask for this machine's addresses again.
    if (changed || machine !== this.machine) this.rebuild();
    this.machine = machine;
  }

  /** A lookup that fails leaves the list as it is, and is repeated. */
  private lookAgain(): void {
    const later = (): void => this.lookLater();
    this.look().then(later, later);
  }

  private lookLater(): void {
    if (this.closed) return;
    const { clock } = this.options;
    this.cancel?.();
    this.cancel = clock.at(nextRoundMs(clock, lookAgainMs), () => this.lookAgain());
  }

  private rebuild(): void {
    const given = [...this.options.fixed, ...this.members];
    const resolved = given.flatMap(({ host, port }) =>
      (this.addresses.get(host) ?? []).map((address) => ({ host: address, port })),
    );
    this.list = [...given, ...resolved];
  }
}

function isName(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) === 0;
}
