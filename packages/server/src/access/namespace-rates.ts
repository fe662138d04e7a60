/** How much the clients of one namespace may ask for together, whichever tokens they have. */
import { RateLimits } from './rate-limit.ts';
import type { QuotaTable } from '../quotas/quota-table.ts';

/** Different rates that are kept; beyond this, the oldest go: they were in force before a change of quotas. */
const ratesMax = 1000;

export class NamespaceRates {
  private readonly quotas: QuotaTable;
  private readonly byRate = new Map<number, RateLimits>();

  constructor(quotas: QuotaTable) {
    this.quotas = quotas;
  }

  /** Takes one for a request, if it may come; else how many milliseconds it is too early. */
  ask(namespace: string, nowMs: number): number {
    return this.of(namespace)?.ask(namespace, nowMs) ?? 0;
  }

  /** Takes more for a request that was admitted. */
  charge(namespace: string, nowMs: number, cost: number): void {
    this.of(namespace)?.charge(namespace, nowMs, cost);
  }

  private of(namespace: string): RateLimits | null {
    const { ratePerSecond } = this.quotas.of(namespace);
    if (ratePerSecond === null) return null;
    let limits = this.byRate.get(ratePerSecond);
    if (limits === undefined) {
      if (this.byRate.size >= ratesMax) this.byRate.clear();
      limits = new RateLimits({ perSecond: ratePerSecond, burst: ratePerSecond });
      this.byRate.set(ratePerSecond, limits);
    }
    return limits;
  }
}
