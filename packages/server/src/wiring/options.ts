/** The environment and the settings that a member is started with. */
import type { Env, Numbering } from '@carillon/core';
import type { Access } from '../access/access.ts';
import type { ReadRings } from '../api/routes/locks.ts';
import type { Route } from '../api/router.ts';
import type { ViewSource } from '../cluster/sources/source.ts';
import type { Config } from '../config/config.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { QuotaTable } from '../quotas/quota-table.ts';
import type { MemberControl } from '../request/service.ts';
import type { Otlp } from '../telemetry/exporter.ts';

/** null: the system does not say. */
export interface ProcessFacts {
  readonly openFiles: { readonly now: number; readonly max: number } | null;
  readonly heapBytes: { readonly now: number; readonly max: number } | null;
}

export interface MemberOptions {
  /** Stays the same over restarts. */
  readonly name: string;
  readonly env: Env;
  readonly config: Config;
  readonly source: ViewSource;
  readonly release: { readonly version: string; readonly runtime: string };
  /** The disk failed: nothing that was not synced can be trusted, so the member must not go on. */
  readonly onFailed: (error: unknown) => void;
  /** Everything was handed on: the process may end. */
  readonly onDrained?: () => void;
  /** Authentication and permissions; default: every caller may do everything. */
  readonly access?: Access;
  /** Reads lock rings in etcd; default: none can be seen. */
  readonly readRings?: ReadRings | null;
  /** Quotas of namespaces; default: as configured, for ever. */
  readonly quotas?: QuotaTable;
  /**
   * Maps the numbers that clients see to the numbers that members keep; the same at all members. Default: without a
   * key.
   */
  readonly numbering?: Numbering;
  /** The process around the member; default: nothing is known of it. */
  readonly process?: () => ProcessFacts;
  /** The way to a collector of spans and metrics; default: none are recorded. */
  readonly otlp?: Otlp | null;
  /** Beside the API: the dashboard. */
  readonly routes?: (control: MemberControl, metrics: Metrics) => readonly Route[];
}
