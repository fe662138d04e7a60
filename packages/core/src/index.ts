export { namesOf, refuseUnknown, refuseUnless, shown } from './slips/argument.ts';
export { ByteReader, ByteWriter, copyOf, MalformedError } from './bytes.ts';
export {
  bareDefinition,
  type CallbackForm,
  type Definition,
  decodeDefinition,
  type Ending,
  encodeDefinition,
  isInterval,
  isKeyed,
  type Origin,
  type RetryPolicy,
  type Timing,
  traceOf,
  withoutTrace,
} from './definition.ts';
export { Deadlines, type Deadlined } from './deadlines.ts';
export { DefinitionTexts } from './definition-texts.ts';
export { formatDuration, parseDuration } from './duration.ts';
export {
  type Attempted,
  type CallbackDone,
  type CallbackRequest,
  type CallbackResult,
  type Callbacks,
  type Cancel,
  type Clock,
  type Disk,
  DiskError,
  type DiskFile,
  type DiskRoom,
  type Env,
  type CallTerms,
  type FrameAnswered,
  type FrameHandler,
  type Log,
  type LogFields,
  type Network,
  type Random,
  type SplitUri,
  type Together,
  type Unmade,
} from './env.ts';
export { CarillonError, type ErrorCode, invariant, sentenceOf } from './errors.ts';
export { formatHostPort, type HostPort, parseHostPort, splitHostPort } from './host-port.ts';
export {
  factorMax,
  formatTimerId,
  hex16,
  NumberSource,
  parseHex16,
  parseLooseTimerId,
  parseTimerId,
  shortKey,
  type TimerId,
} from './ids.ts';
export { timerIdFault } from './id-fault.ts';
export { labelSlips, type WithLabels } from './slips/label-slips.ts';
export { missingDay } from './slips/missing-day.ts';
export { nearestWord } from './slips/nearest-word.ts';
export { KeyedNumbering, type Numbering, OpenNumbering } from './numbering.ts';
export {
  compareProgress,
  decodeRecord,
  decodeRecordInto,
  RecordBuffer,
  RecordFields,
  encodeRecord,
  Outcome,
  type Progress,
  State,
  type TimerRecord,
  versionMsMax,
} from './record.ts';
export { nextRoundMs } from './rounds.ts';
export { sleep } from './sleep.ts';
export { isSampled, parseTraceparent, spanIdOf, traceIdOf } from './traceparent.ts';
export {
  compareVersions,
  formatVersion,
  parseVersion,
  type Version,
  versionAfter,
  stampedByOne,
  VersionClock,
} from './version.ts';
