/** Where views come from: alone, a file, or etcd. */
import type { ViewSpec } from '../view/view.ts';

export interface ViewSource {
  /** Resolves after the first view; every change later is told through `onView`. */
  start(onView: (spec: ViewSpec) => void): Promise<void>;
  /** Tells all members that share the source that this one is ready to hold timers. */
  ready(): Promise<void>;
  /** Tells them that it is leaving. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}
