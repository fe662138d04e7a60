/**
 * The live state of the page: the events of `/events`, and the time by the member's clock. The stream is read with
 * `fetch`, because an EventSource cannot send a token. When it ends for any reason, it is opened again after a wait
 * that grows with each failure.
 */
import { computed, effect, signal } from '@preact/signals';
import { EventText } from './event-text.ts';
import { headersOf, introduce, reasonOf, refuse, standing } from './session.ts';
import type { Sample, Snapshot } from './parts/shapes.ts';

const sampleCountMax = 300;
const retryMsMin = 500;
const retryMsMax = 8000;
/** Snapshots come every second; after this long without one, something is wrong. */
const silentMs = 3500;
/** And after this long the connection itself is not trusted any more. */
const deadMs = 10_000;
const tickMs = 200;

export const snapshot = signal<Snapshot | null>(null);
export const samples = signal<readonly Sample[]>([]);
/** Advances a few times a second, by the wall clock of the member. */
export const nowMs = signal(Date.now());
const heardMs = signal(Date.now());
const localMs = signal(Date.now());
let offsetMs = 0;
let cut = new AbortController();
/** When the present connection last gave a sign of life. */
let aliveMs = Date.now();

/** For how long nothing was heard; null while snapshots come. */
export const lostMs = computed(() => {
  const ms = localMs.value - heardMs.value;
  return ms > silentMs ? Math.floor(ms / 1000) * 1000 : null;
});

export function follow(): void {
  setInterval(() => {
    localMs.value = Date.now();
    nowMs.value = Date.now() + offsetMs;
    if (Date.now() - aliveMs > deadMs) cut.abort();
  }, tickMs);
  // Data that was seen with a token does not stay on the screen without it.
  effect(() => {
    if (standing.value !== 'out') return;
    cut.abort();
    snapshot.value = null;
    samples.value = [];
  });
  void listen();
}

/** For as long as the page lives. */
async function listen(): Promise<never> {
  let waitMs = retryMsMin;
  for (;;) {
    try {
      if (standing.value === 'asking') await introduce();
      if (standing.value === 'in') await read(() => (waitMs = retryMsMin));
    } catch {
      // Refused, cut or never connected: the next try is the same.
    }
    await pause(standing.value === 'out' ? tickMs : waitMs * (0.75 + Math.random() / 2));
    if (standing.value === 'in') waitMs = Math.min(2 * waitMs, retryMsMax);
  }
}

/** Reads events until the stream ends. */
async function read(heard: () => void): Promise<void> {
  cut = new AbortController();
  aliveMs = Date.now();
  const headers = headersOf({ accept: 'text/event-stream' });
  const answer = await fetch('events', { headers, signal: cut.signal });
  if (answer.status === 401) return refuse(await reasonOf(answer));
  if (!answer.ok || answer.body === null) throw new Error(await reasonOf(answer));
  const text = new EventText();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { name, data } of text.push(value)) {
      if (name === 'history') samples.value = JSON.parse(data) as Sample[];
      else if (name === 'snapshot') take(JSON.parse(data) as Snapshot);
    }
    aliveMs = Date.now();
    heard();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function take(next: Snapshot): void {
  heardMs.value = Date.now();
  localMs.value = Date.now();
  offsetMs = next.sample.at - Date.now();
  snapshot.value = next;
  const known = samples.value;
  if (known.at(-1)?.at === next.sample.at) return;
  samples.value = [...known, next.sample].slice(-sampleCountMax);
}
