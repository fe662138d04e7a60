/** The same sets by the `fetch` of Node, as a caller without a library would make them. */
import {
  type CarillonConfig,
  delayMs,
  numberedPath,
  payloadOf,
  type Setter,
  type Spec,
} from './setter.ts';

export class FetchSetter implements Setter {
  private readonly url: string;
  private readonly uri: string;
  private readonly factor: number;

  constructor({ urls, uri, factor }: CarillonConfig) {
    const [first = ''] = urls;
    this.url = new URL(first).origin;
    this.uri = uri;
    this.factor = factor;
  }

  set(spec: Spec): Promise<void> {
    return this.send('POST', '/timers', spec);
  }

  refresh(spec: Spec): Promise<void> {
    return this.send('PUT', numberedPath(spec.index, this.factor), spec);
  }

  setMany(): Promise<void> {
    throw new Error('Bulk is measured through the library and over shared connections only.');
  }

  recur(): Promise<void> {
    throw new Error('Recurring timers are measured over shared connections only.');
  }

  async close(): Promise<void> {}

  private async send(method: string, path: string, { index, due }: Spec): Promise<void> {
    const timing = { interval: delayMs(due) / 1000 };
    const callback = { http: { uri: this.uri, opaque: payloadOf(index) } };
    const answer = await fetch(this.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ timing, callback }),
    });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
  }
}
