/** Facts about one member, as it tells them itself; other members get them as JSON. */
import type { DiskRoom } from '@carillon/core';

export interface FailingDestination {
  readonly namespace: string;
  /** Its origin. */
  readonly receiver: string;
  /** Class of the newest failure. */
  readonly failure: string;
  /** Failures in a row. */
  readonly count: number;
  readonly forMs: number;
}

/** So many of so many. */
export interface Share {
  readonly now: number;
  readonly max: number;
}

export interface LetterBoxShare extends Share {
  readonly namespace: string;
}

export interface MemberFacts {
  readonly name: string;
  readonly release: string;
  readonly runtime: string;
  readonly protocolMax: number;
  readonly viewId: string;
  /** null: ready; otherwise a sentence. */
  readonly unready: string | null;
  readonly upMs: number;
  /** Own wall clock against the median of the cluster's; null: not known. */
  readonly clockOffsetMs: number | null;
  /** Members of the view that it does not hear. */
  readonly silent: readonly string[];
  /** Members that were silent for a while within the time of the percentiles, though they may answer now. */
  readonly silentLately: readonly string[];
  readonly durable: boolean;
  readonly diskRoom: DiskRoom | null;
  readonly diskFull: boolean;
  /** whole, mending, mended or lost. */
  readonly diskState: string;
  /** Over the last minutes; null: nothing was measured. */
  readonly fsyncP99Ms: number | null;
  readonly lagP99Ms: number | null;
  readonly latenessP99Ms: number | null;
  /** null: the system does not say. */
  readonly openFiles: Share | null;
  readonly heapBytes: Share | null;
  readonly connections: Share;
  readonly callbacksInFlight: Share;
  readonly callbacksQueued: number;
  readonly timers: Share;
  readonly letters: Share;
  /** Of which it is the primary, or the first replica that answers. */
  readonly primaryLetters: number;
  /** Boxes that are more than half full, fullest first. */
  readonly boxes: readonly LetterBoxShare[];
  readonly failing: readonly FailingDestination[];
  readonly underReplicated: number;
  readonly resyncing: boolean;
  /** Connections of or to other members that were refused since the start. */
  readonly peersRefused: number;
  /** Events that no receiver took since the start. */
  readonly eventsGivenUp: number;
}

const none: Share = { now: 0, max: 0 };

/** Facts that another release does not tell are taken for unknown, or for well. */
const untold: MemberFacts = {
  name: '',
  release: '',
  runtime: '',
  protocolMax: 0,
  viewId: '',
  unready: null,
  upMs: 0,
  clockOffsetMs: null,
  silent: [],
  silentLately: [],
  durable: true,
  diskRoom: null,
  diskFull: false,
  diskState: 'whole',
  fsyncP99Ms: null,
  lagP99Ms: null,
  latenessP99Ms: null,
  openFiles: null,
  heapBytes: null,
  connections: none,
  callbacksInFlight: none,
  callbacksQueued: 0,
  timers: none,
  letters: none,
  primaryLetters: 0,
  boxes: [],
  failing: [],
  underReplicated: 0,
  resyncing: false,
  peersRefused: 0,
  eventsGivenUp: 0,
};

export function writeFacts(facts: MemberFacts): string {
  return JSON.stringify(facts);
}

/** null: no facts. Of each member that is known, a value of another type than ours counts as untold. */
export function readFacts(text: string): MemberFacts | null {
  try {
    const given: unknown = JSON.parse(text);
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
    const told = Object.entries(given).filter(([name, value]) => {
      if (!Object.hasOwn(untold, name)) return false;
      const ours = untold[name as keyof MemberFacts];
      if (value === null || ours === null) return ours === null;
      return typeof value === typeof ours && Array.isArray(value) === Array.isArray(ours);
    });
    return { ...untold, ...(Object.fromEntries(told) as Partial<MemberFacts>) };
  } catch {
    return null;
  }
}
