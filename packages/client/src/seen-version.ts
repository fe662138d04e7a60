/**
 * The highest version a client has seen. Sent with every change, it keeps the changes of one client in order at
 * members that cannot talk to each other, even when their clocks differ.
 */
import { compareVersions, formatVersion, parseVersion, type Version } from '@carillon/core';

export class SeenVersion {
  private highest: Version | null = null;

  get text(): string | null {
    return this.highest === null ? null : formatVersion(this.highest);
  }

  /** False, and nothing happens, for a text that is no version. */
  add(text: string): boolean {
    const version = parseVersion(text);
    if (version === null) return false;
    if (this.highest === null || compareVersions(version, this.highest) > 0) this.highest = version;
    return true;
  }
}
