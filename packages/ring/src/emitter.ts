/** Typed listeners. A listener that throws is reported and does not keep the others from hearing. */
import type { Cancel } from '@carillon/core';

export class Emitter<Events extends { [name in keyof Events]: unknown }> {
  private readonly listeners = new Map<keyof Events, Set<(event: never) => void>>();
  private readonly onThrow: (error: unknown) => void;

  constructor(onThrow: (error: unknown) => void) {
    this.onThrow = onThrow;
  }

  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): Cancel {
    const set = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, set.add(listener));
    return () => set.delete(listener);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        (listener as (event: Events[Name]) => void)(event);
      } catch (error) {
        this.onThrow(error);
      }
    }
  }
}
