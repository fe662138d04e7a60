/** Public surface of the client: timers at any member, and a receiver for their callbacks. */
export {
  type BatchOutcome,
  Carillon,
  type CarillonOptions,
  type ListOptions,
  type PreviewOptions,
  type SetOptions,
} from './carillon.ts';
export type { DeadLetterFilter, DeadLetterListOptions, DeadLetters } from './dead-letters.ts';
export { ApiError, type FailedAttempt, type Problem, UnreachableError } from './errors.ts';
export type {
  AuditFilter,
  HistoryAttempt,
  HistoryChange,
  HistoryEntry,
  HistoryFilter,
} from './history.ts';
export { eventOf, type TimerEvent } from './event.ts';
export { type DataHandler, type DataPop, handler, type NamedHandler } from './payload/handlers.ts';
export { PayloadError } from './payload/payload.ts';
export type { SchemaIssue, StandardSchema } from './payload/standard-schema.ts';
export type { CallOptions, PagedOptions } from './pages.ts';
export type { Pop, PopHandler } from './pop.ts';
export { BoundedPopMemory, type PopMemory, type PopState } from './pop-memory.ts';
export { type NamedReceiverOptions, type ReceiverOptions, receiver } from './receiver.ts';
export type {
  Attempt,
  Attempts,
  Cluster,
  ClusterMember,
  Confirmed,
  Copies,
  DeadLetter,
  DeadLetterGroup,
  DeadLetterSummary,
  DiskDamage,
  Preview,
  PreviewedPop,
  Timer,
  TimerState,
} from './shapes.ts';
export type { ClientSystem } from './system.ts';
export { bodyOf } from './timer-spec.ts';
export type { Duration, Ending, Instant, RetrySpec, TimerSpec, When } from './timer-spec.ts';
export type { ApiAnswer, ApiRequest } from './transport.ts';
