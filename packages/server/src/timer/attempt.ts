/** One try to deliver a pop, as the member that made it remembers it. */
export interface Attempt {
  /** The sequence of its pop, which the receiver is told as X-Sequence-Number. */
  readonly sequence: number;
  /** Its number among the attempts at this pop, from 1. */
  readonly attempt: number;
  /** Wall-clock milliseconds when the callback began. */
  readonly atMs: number;
  /** From the due time of the pop until the callback began. */
  readonly latenessMs: number;
  /** From the beginning of the callback until its answer, or until it was given up. */
  readonly tookMs: number;
  /** As in records: an HTTP status, or the code of a reason. */
  readonly outcome: number;
}
