/**
 * Several callbacks as one HTTP request: NDJSON, a line for each pop with its opaque and the fields that are headers of
 * a single callback.
 */
import { createHash } from 'node:crypto';
import type { CallbackRequest } from '@carillon/core';
import type { Addressee } from './destinations.ts';
import { limitMsOf, type PopContext, toldOf } from '../../callback/request.ts';
import type { Signer } from '../../callback/sign.ts';
import type { PopTrace } from '../../timer/pop-trace.ts';

export interface BatchRequestLimits {
  /** Pops in one request. */
  readonly countMax: number;
  /** A request that has reached so many characters gets no more pops. */
  readonly lengthMax: number;
}

const encoder = new TextEncoder();

/** A request that is being put together, of pops that all have the same uri. */
export class BatchRequest {
  private readonly limits: BatchRequestLimits;
  private text = '';
  private limitMs = Number.POSITIVE_INFINITY;
  count = 0;

  constructor(limits: BatchRequestLimits) {
    this.limits = limits;
  }

  get full(): boolean {
    return this.count >= this.limits.countMax || this.text.length >= this.limits.lengthMax;
  }

  add(pop: PopContext): void {
    this.text += lineOf(pop);
    this.count++;
    // The shortest limit of all pops in the batch.
    this.limitMs = Math.min(this.limitMs, limitMsOf(pop));
  }

  /** The whole request; to be asked for once. */
  finish(addressee: Addressee, signer: Signer | null, wallMs: number): CallbackRequest {
    const body = encoder.encode(this.text);
    const { uri, split, namespace } = addressee;
    return {
      uri,
      split,
      namespace,
      method: 'POST',
      headers: {
        'content-type': 'application/x-ndjson',
        'x-timer-count': String(this.count),
        ...signer?.headers(nameOf(body), wallMs, body),
      },
      body,
      limitMs: this.limitMs,
    };
  }
}

/** One line, written by hand because there are many: only the opaque can hold characters that JSON must escape. */
function lineOf(pop: PopContext): string {
  const { id, sequence, due, version, attempt, missed } = toldOf(pop);
  const merged = missed > 0 ? `,"missed":${missed}` : '';
  const opaque = JSON.stringify(pop.definition.opaque);
  const trace = pop.trace === null ? '' : traceMembers(pop.trace);
  return `{"id":"${id}","sequence":${sequence},"due":"${due}","version":"${version}","attempt":${attempt}${merged}${trace},"opaque":${opaque}}\n`;
}

/** Each pop belongs to a trace of its own, so a batch has no header for it. */
function traceMembers({ own, set }: PopTrace): string {
  return `${own === null ? '' : `,"traceparent":"${own}"`}${set === null ? '' : `,"trace":"${set}"`}`;
}

/** Equal batches have equal names: a receiver that drops duplicates by name must not drop another batch. */
function nameOf(body: Uint8Array): string {
  return `batch_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;
}
