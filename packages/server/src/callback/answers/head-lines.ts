/**
 * The head of a receiver's answer, line by line. Each line is looked at once, byte by byte, so that the cost of a head
 * is its length, even if a receiver writes nonsense into it.
 *
 * A line that two readers could understand differently is odd. An odd head does not undo the status that stands before
 * it: the receiver has spoken. But where such an answer ends cannot be trusted, so its connection is not used again.
 */
import { colon, lowerBytes, space, tab, tokenBytes, valueBytes } from '../../http/syntax.ts';

const versionBytes = Buffer.from('HTTP/1.');
const statusAt = versionBytes.length + 2;
const digitZero = 0x30;
const lengthDigitCountMax = 15;
const hintForm = /(?:^|[\t ,])timeout=(\d{1,6})(?:$|[\t ,])/i;
const closeForm = /(?:^|[\t ,])close(?:$|[\t ,])/i;

export interface StatusLine {
  readonly status: number;
  readonly minor: number;
  /** The reason has bytes that no reason has. */
  readonly odd: boolean;
}

/** `HTTP/1.1 200 OK`, with or without the reason; null: no status. */
export function statusLineOf(line: Buffer): StatusLine | null {
  if (line.length < statusAt + 3 || line.compare(versionBytes, 0, 7, 0, 7) !== 0) return null;
  const minor = (line[7] as number) - digitZero;
  if ((minor !== 0 && minor !== 1) || line[8] !== space) return null;
  const status = numberAt(line, statusAt, statusAt + 3);
  if (status === null || status < 100 || status > 599) return null;
  const behind = line[statusAt + 3];
  if (behind !== undefined && behind !== space) return null;
  return { status, minor, odd: valueEnd(line, statusAt + 3) !== line.length };
}

/** The few headers of one answer that matter. */
export class HeadLines {
  odd = false;
  /** -1: no length is given. */
  lengthBytes = -1;
  /** In lower case. */
  coding: string | undefined;
  retryAfter: string | undefined;
  /** `X-Timer-Batch` and `X-Timer-Failed`. */
  batch: string | undefined;
  failed: string | undefined;
  closes = false;
  keepsMs: number | null = null;

  /** A line without its line end. */
  add(line: Buffer): void {
    const nameEnd = tokenEnd(line);
    if (nameEnd === 0 || line[nameEnd] !== colon || valueEnd(line, nameEnd + 1) !== line.length) {
      this.odd = true;
      return;
    }
    this.tookHeader(lowerText(line, nameEnd), line, nameEnd + 1);
  }

  private tookHeader(name: string, line: Buffer, valueAt: number): void {
    switch (name) {
      case 'content-length':
        this.tookLength(trimmed(line, valueAt));
        break;
      case 'transfer-encoding':
        // node:http does not read a tab behind the coding as a blank, so the two could see different ends.
        this.odd ||= this.coding !== undefined || line.includes(tab, valueAt);
        this.coding = trimmed(line, valueAt).toLowerCase();
        break;
      case 'retry-after':
        this.retryAfter ??= trimmed(line, valueAt);
        break;
      case 'x-timer-batch':
        this.batch ??= trimmed(line, valueAt);
        break;
      case 'x-timer-failed':
        this.failed ??= trimmed(line, valueAt);
        break;
      case 'connection':
        this.closes ||= closeForm.test(trimmed(line, valueAt));
        break;
      case 'keep-alive':
        this.keepsMs = hintOf(trimmed(line, valueAt));
        break;
    }
  }

  private tookLength(value: string): void {
    const bytes = numberAt(Buffer.from(value, 'latin1'), 0, value.length);
    if (bytes === null || value.length > lengthDigitCountMax || this.lengthBytes !== -1)
      this.odd = true;
    else this.lengthBytes = bytes;
  }
}

function hintOf(value: string): number | null {
  const seconds = hintForm.exec(value)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

function tokenEnd(line: Uint8Array): number {
  let at = 0;
  while (at < line.length && tokenBytes[line[at] as number] === 1) at++;
  return at;
}

function valueEnd(line: Uint8Array, from: number): number {
  let at = from;
  while (at < line.length && valueBytes[line[at] as number] === 1) at++;
  return at;
}

/** Null: not digits alone. */
function numberAt(line: Uint8Array, from: number, to: number): number | null {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = (line[at] as number) - digitZero;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return from === to ? null : value;
}

function lowerText(line: Uint8Array, to: number): string {
  let text = '';
  // No name that matters is longer.
  if (to <= 32)
    for (let at = 0; at < to; at++)
      text += String.fromCharCode(lowerBytes[line[at] as number] as number);
  return text;
}

/** The rest of a line from an offset on, without the blanks around it. */
function trimmed(line: Buffer, start: number): string {
  let from = start;
  let to = line.length;
  while (from < to && isBlank(line[from])) from++;
  while (to > from && isBlank(line[to - 1])) to--;
  return line.toString('latin1', from, to);
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}
