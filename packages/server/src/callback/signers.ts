/** The signer of each namespace. */
import { Signer } from './sign.ts';

/** A secret, or `NAMESPACE=` and a secret that is for that namespace alone. */
export class Signers {
  private readonly common: Signer | null;
  private readonly own = new Map<string, Signer>();

  /** Throws for a secret that is not usable, without repeating it. */
  constructor(entries: readonly string[]) {
    const byNamespace = Map.groupBy(entries, (entry) => entry.match(/^([^=]*)=whsec_/)?.[1] ?? '');
    const common = byNamespace.get('') ?? [];
    this.common = common.length === 0 ? null : new Signer(common);
    for (const [namespace, all] of byNamespace) {
      if (namespace === '') continue;
      this.own.set(namespace, new Signer(all.map((entry) => entry.slice(namespace.length + 1))));
    }
  }

  /** null: callbacks of the namespace are not signed. */
  of(namespace: string): Signer | null {
    return this.own.get(namespace) ?? this.common;
  }
}
