/** The same sets through `@carillon/client`, for the cost of the library to its caller. */
import { Carillon, type TimerSpec } from '@carillon/client';
import { type CarillonConfig, delayMs, payloadOf, type Setter, type Spec } from './setter.ts';

export class CarillonClientSetter implements Setter {
  private readonly client: Carillon;
  private readonly uri: string;

  constructor({ urls, uri }: CarillonConfig) {
    this.client = new Carillon({ members: urls, refresh: null });
    this.uri = uri;
  }

  async set(spec: Spec): Promise<void> {
    await this.client.set(this.specOf(spec));
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    const outcomes = await this.client.setMany(specs.map((spec) => this.specOf(spec)));
    const failed = outcomes.find(({ ok }) => !ok);
    if (failed?.ok === false) throw failed.error;
  }

  refresh(): Promise<void> {
    throw new Error('Refreshing is measured over plain HTTP only.');
  }

  recur(): Promise<void> {
    throw new Error('Recurring timers are measured over plain HTTP only.');
  }

  async close(): Promise<void> {}

  private specOf({ index, due }: Spec): TimerSpec {
    return { in: delayMs(due), uri: this.uri, opaque: payloadOf(index) };
  }
}
