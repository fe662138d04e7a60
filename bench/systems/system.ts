/**
 * A system under test: how it is installed, started, watched and restarted. Neighbours: `load/setter.ts` says how it is
 * used.
 */
import type { SetterConfig } from '../load/setter.ts';

export const systemNames = [
  'carillon',
  'carillon-memory',
  'bullmq',
  'bullmq-noaof',
  'pg-boss',
  'graphile',
  'settimeout',
  'heap',
] as const;

/** `carillon-unindexed` is a row of W4 alone, beside `carillon`. */
export type SystemName = (typeof systemNames)[number] | 'carillon-unindexed';

export interface System {
  readonly name: SystemName;
  readonly label: string;
  /** ours; a peer to compare with; or a baseline, which runs inside the client's process and keeps nothing. */
  readonly kind: 'ours' | 'peer' | 'baseline';
  /** Installs its programs and packages. Null: ready; else why it cannot run here. */
  prepare(): Promise<string | null>;
  start(options: StartOptions): Promise<Running>;
}

export interface StartOptions {
  /** For its data; its own. */
  readonly folder: string;
  /** Where callbacks go. */
  readonly uri: string;
}

export interface Running {
  /** Process ids of the servers and workers; children are found from there. None: a baseline. */
  pids(): readonly number[];
  readonly setter: SetterConfig;
  /** Starts the processes that make the callbacks. */
  work(): Promise<void>;
  /** Waits for its work in the background after a fill. */
  settle(): Promise<void>;
  pending(): Promise<number>;
  /**
   * Ends the workers, kills the server with SIGKILL and starts it again; seconds until it serves. Null: it keeps
   * nothing.
   */
  restart: (() => Promise<number>) | null;
  stop(): Promise<void>;
}
