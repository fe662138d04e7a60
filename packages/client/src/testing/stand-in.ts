/** Stand-ins for the world around the client: a clock moved by hand and members that answer by script. */
import type { ClientSystem } from '../system.ts';

export class FakeSystem implements ClientSystem {
  nowMs = 1000;
  private readonly alarms = new Set<{ atMs: number; fn: () => void }>();
  private uuids = 0;

  now(): number {
    return this.nowMs;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.nowMs;
  }

  random(): number {
    return 0.5;
  }

  uuid(): string {
    return `uuid-${++this.uuids}`;
  }

  after(ms: number, fn: () => void): () => void {
    const alarm = { atMs: this.nowMs + ms, fn };
    this.alarms.add(alarm);
    return () => this.alarms.delete(alarm);
  }

  advance(ms: number): void {
    this.nowMs += ms;
    for (const alarm of this.alarms) {
      if (alarm.atMs > this.nowMs) continue;
      this.alarms.delete(alarm);
      alarm.fn();
    }
  }

  get alarmCount(): number {
    return this.alarms.size;
  }
}

export interface Seen {
  readonly member: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** An answer, at once or later, an Error to reject with, or silence until the request is aborted. */
export type Scripted = Response | Promise<Response> | Error | 'silence';

/** A fetch whose members answer as `script` says, and everything it was asked. */
export function standIn(script: (seen: Seen) => Scripted): { fetch: typeof fetch; seen: Seen[] } {
  const seen: Seen[] = [];
  const send = (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input));
    const request: Seen = {
      member: url.origin,
      method: init.method ?? 'GET',
      path: url.pathname + url.search,
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : null,
    };
    seen.push(request);
    const answer = script(request);
    if (answer instanceof Response) return Promise.resolve(answer);
    if (answer instanceof Error) return Promise.reject(answer);
    return new Promise((resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      if (answer !== 'silence') answer.then(resolve, reject);
    });
  };
  return { fetch: send, seen };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const all = { 'content-type': 'application/json', ...headers };
  return new Response(JSON.stringify(body), { status, headers: all });
}

export function located(id: string, copies = '2/2'): Response {
  return new Response('', { headers: { location: `/timers/${id}`, 'carillon-copies': copies } });
}

/** One macrotask: promises that can settle have settled. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
