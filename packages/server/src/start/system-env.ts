/** The real world as ports: system clock, kernel randomness, pino, files, TCP, HTTP. */
import {
  type Clock,
  type Env,
  type Log,
  type LogFields,
  type Network,
  type Random,
  splitHostPort,
} from '@carillon/core';
import { SystemDisk } from '@carillon/core/system';
import pino from 'pino';
import { isLoopback } from '../access/start-rule.ts';
import type { Config } from '../config/config.ts';
import { HttpCallbacks } from '../callback/callback.ts';
import { type Endpoint, Guard, parseAllow } from '../callback/guard/guard.ts';

export interface SystemEnvOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where the public API listens. */
  readonly listen: string;
  /** null: alone. */
  readonly network: Network | null;
  /** Addresses that callbacks must never reach: peers and etcd. */
  readonly denied: () => readonly Endpoint[];
}

export interface SystemEnv extends Env {
  /** Gives the data folder up. */
  close(): Promise<void>;
}

export async function createSystemEnv(options: SystemEnvOptions): Promise<SystemEnv> {
  const { config, clock, random, log, network } = options;
  const disk = config.durability === 'disk' ? await SystemDisk.open(config.data) : null;
  const guard = new Guard({
    allow: config.callbacks.allow.flatMap(parseAllow),
    loopback: isLoopback(splitHostPort(options.listen).host),
    denied: options.denied,
  });
  const { inFlightMax, inFlightPerDestinationMax } = config.callbacks;
  const callbacks = new HttpCallbacks({
    clock,
    guard,
    connectionCountMax: inFlightPerDestinationMax,
    originCountMax: 2 * inFlightMax,
  });
  return { clock, random, log, disk, network, callbacks, close: async () => disk?.close() };
}

/** `write` gets each line with its newline; standard output otherwise. */
export function createLog(level: string, member: string, write?: (line: string) => void): Log {
  const options = { level, base: { member }, timestamp: pino.stdTimeFunctions.isoTime };
  const logger = write === undefined ? pino(options) : pino(options, { write });
  const line =
    (to: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields): void =>
      logger[to](withTexts(fields), message);
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

/** An error is written as its sentence: as an object it would show nothing but its extra fields. */
function withTexts(fields: LogFields): LogFields {
  const pairs = Object.entries(fields).map(([name, value]) =>
    value instanceof Error ? [name, value.message] : [name, value],
  );
  return Object.fromEntries(pairs) as LogFields;
}
