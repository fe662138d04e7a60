/** Sets timers over Carillon's HTTP API. */
import { HttpConnections } from './http-connections.ts';
import {
  type CarillonConfig,
  type Due,
  numberedPath,
  payloadOf,
  type Recurring,
  type Setter,
  type Spec,
} from './setter.ts';

/** Connections to one member that all calls share. */
const sharedCount = 4;
/** As many as any workload has calls in flight. */
const apartCount = 1000;

export class CarillonSetter implements Setter {
  private readonly connections: HttpConnections;
  private readonly uri: string;
  private readonly factor: number;
  private readonly batch: boolean;

  constructor({ kind, urls, uri, factor, batch = false }: CarillonConfig) {
    this.connections = new HttpConnections(urls, kind === 'carillon' ? sharedCount : apartCount);
    this.uri = uri;
    this.factor = factor;
    this.batch = batch;
  }

  get repeated(): number {
    return this.connections.repeated;
  }

  set(spec: Spec): Promise<void> {
    return this.send('POST', '/timers', this.bodyOf(spec));
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    const body = `[${specs.map((spec) => this.bodyOf(spec)).join(',')}]`;
    const answer = await this.connections.exchange('POST', '/timers/batch', body);
    const set = answer.body.split('"status":200').length - 1;
    if (answer.status !== 200 || set !== specs.length) {
      throw new Error(`Of ${specs.length} timers ${set} were set: ${answer.body.slice(0, 200)}`);
    }
  }

  refresh(spec: Spec): Promise<void> {
    return this.send('PUT', numberedPath(spec.index, this.factor), this.bodyOf(spec));
  }

  cancel(index: number): Promise<void> {
    return this.send('DELETE', numberedPath(index, this.factor), '');
  }

  recur({ index, everyMs, count }: Recurring): Promise<void> {
    const timing = { interval: everyMs / 1000, count };
    return this.send('POST', '/timers', this.json(timing, index));
  }

  async close(): Promise<void> {
    this.connections.close();
  }

  private async send(method: string, path: string, body: string): Promise<void> {
    const answer = await this.connections.exchange(method, path, body);
    if (answer.status !== 200) {
      throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.body}`);
    }
  }

  private bodyOf({ index, due }: Spec): string {
    return this.json(timingOf(due), index);
  }

  private json(timing: object, index: number): string {
    const http = {
      uri: this.uri,
      opaque: payloadOf(index),
      ...(this.batch && { batch: true }),
    };
    return JSON.stringify({ timing, callback: { http } });
  }
}

function timingOf(due: Due): object {
  return 'inMs' in due ? { interval: due.inMs / 1000 } : { at: new Date(due.atMs).toISOString() };
}
