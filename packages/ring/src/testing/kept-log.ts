import type { Log } from '@carillon/core';

/** A log that keeps its warnings and errors, so that a test can look at them. */
export class KeptLog implements Log {
  readonly lines: string[] = [];
  debug(): void {}
  info(): void {}
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.lines.push(`warn ${message} ${JSON.stringify(fields ?? {})}`);
  }
  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.lines.push(`error ${message} ${JSON.stringify(fields ?? {})}`);
  }
}
