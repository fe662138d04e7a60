/** The quotas in force. They may change while the member runs. */
import type { Config } from '../config/config.ts';
import { type Quota, quotaFor, type Quotas } from '../config/quota.ts';

/** Namespaces whose quotas are remembered; of more they are put together again. */
const rememberedMax = 10_000;

export class QuotaTable {
  private readonly limits: Config['limits'];
  private quotas: Quotas;
  private readonly known = new Map<string, Quota>();
  private revisionNow = 0;

  constructor({ namespaces, limits }: Pick<Config, 'namespaces' | 'limits'>) {
    this.quotas = namespaces;
    this.limits = limits;
  }

  /** Puts quotas in force from now on. */
  use(quotas: Quotas): void {
    this.quotas = quotas;
    this.known.clear();
    this.revisionNow++;
  }

  /** Another one after each change. */
  get revision(): number {
    return this.revisionNow;
  }

  /** Namespaces with quotas of their own, and `*`. */
  get names(): readonly string[] {
    return Object.keys(this.quotas);
  }

  /** Whether any namespace wants to be told of events. */
  get tells(): boolean {
    return Object.values(this.quotas).some(({ events }) => (events ?? null) !== null);
  }

  of(namespace: string): Quota {
    const known = this.known.get(namespace);
    if (known !== undefined) return known;
    const quota = quotaFor(this.quotas, namespace, this.limits);
    if (this.known.size >= rememberedMax) this.known.clear();
    this.known.set(namespace, quota);
    return quota;
  }
}
