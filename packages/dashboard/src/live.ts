/** The live state of the page: what `/events` tells, and the time by the member's clock. */
import { computed, signal } from '@preact/signals';
import type { Sample, Snapshot } from './shapes.ts';

const sampleCountMax = 300;
const retryMs = 2000;
/** Snapshots come every second; after this long without one, something is wrong. */
const silentMs = 3500;
const tickMs = 200;

export const snapshot = signal<Snapshot | null>(null);
export const samples = signal<readonly Sample[]>([]);
/** Advances a few times a second, by the wall clock of the member. */
export const nowMs = signal(Date.now());
const heardMs = signal(Date.now());
const localMs = signal(Date.now());
let offsetMs = 0;

/** For how long nothing was heard; null while snapshots come. */
export const lostMs = computed(() => {
  const ms = localMs.value - heardMs.value;
  return ms > silentMs ? Math.floor(ms / 1000) * 1000 : null;
});

export const members = computed(() => snapshot.value?.cluster.members ?? []);

export function follow(): void {
  setInterval(() => {
    localMs.value = Date.now();
    nowMs.value = Date.now() + offsetMs;
  }, tickMs);
  connect();
}

function connect(): void {
  const source = new EventSource('events');
  source.addEventListener('history', (event: MessageEvent<string>) => {
    samples.value = JSON.parse(event.data) as Sample[];
  });
  source.addEventListener('snapshot', (event: MessageEvent<string>) => {
    take(JSON.parse(event.data) as Snapshot);
  });
  source.addEventListener('error', () => {
    // The browser tries again by itself, except after a refusal.
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(connect, retryMs);
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
