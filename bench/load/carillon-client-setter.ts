/** The same sets through `@carillon/client`, for the cost of the library to its caller. */
import { Carillon, type TimerSpec } from '@carillon/client';
import {
  type CarillonConfig,
  type CronSpec,
  delayMs,
  numberedId,
  payloadOf,
  type Setter,
  type Spec,
} from './setter.ts';

export class CarillonClientSetter implements Setter {
  private readonly client: Carillon;
  private readonly uri: string;
  private readonly factor: number;

  constructor({ urls, uri, factor }: CarillonConfig) {
    this.client = new Carillon({ members: urls, refresh: null });
    this.uri = uri;
    this.factor = factor;
  }

  async set(spec: Spec): Promise<void> {
    await this.client.set(this.specOf(spec));
  }

  setMany(specs: readonly Spec[]): Promise<void> {
    return this.together(specs.map((spec) => this.specOf(spec)));
  }

  cronMany(crons: readonly CronSpec[]): Promise<void> {
    const { uri } = this;
    return this.together(
      crons.map(({ index, pattern, count }) => {
        return { cron: pattern, count, uri, opaque: payloadOf(index) };
      }),
    );
  }

  async refresh(spec: Spec): Promise<void> {
    await this.client.replace(numberedId(spec.index, this.factor), this.specOf(spec));
  }

  async cancel(index: number): Promise<void> {
    await this.client.cancel(numberedId(index, this.factor));
  }

  recur(): Promise<void> {
    throw new Error('Recurring timers are measured over shared connections only.');
  }

  async close(): Promise<void> {}

  private async together(specs: readonly TimerSpec[]): Promise<void> {
    const outcomes = await this.client.setMany(specs);
    const failed = outcomes.find(({ ok }) => !ok);
    if (failed?.ok === false) throw failed.error;
  }

  private specOf({ index, due }: Spec): TimerSpec {
    return { in: delayMs(due), uri: this.uri, opaque: payloadOf(index) };
  }
}
