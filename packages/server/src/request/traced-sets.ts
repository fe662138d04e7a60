/** Sets with a span each: below the span of the client where its request names one, else the first of a trace. */
import type { Clock } from '@carillon/core';
import {
  attributeText,
  integerAttribute,
  KnownTexts,
  stringAttribute,
} from '../telemetry/attribute-text.ts';
import { contextOf, type SpanPlace, spanKind } from '../telemetry/span.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import type { ChangeOutcome, SetOutcome, SetRequest, SetService } from './service.ts';

export interface TracedSetsParts {
  readonly sets: SetService;
  readonly tracer: Tracer;
  readonly clock: Clock;
}

export class TracedSets implements SetService {
  private readonly parts: TracedSetsParts;
  private readonly namespaces = new KnownTexts(stringAttribute('carillon.namespace'));

  constructor(parts: TracedSetsParts) {
    this.parts = parts;
  }

  set(request: SetRequest): Promise<SetOutcome> {
    const { sets } = this.parts;
    const place = this.begin(request);
    if (place === null) return sets.set(request);
    const { namespace } = request;
    return sets.set(within(request, place)).then((outcome) => {
      this.end(place, namespace, outcome);
      return outcome;
    });
  }

  setMany(requests: readonly SetRequest[]): Promise<readonly ChangeOutcome[]> {
    const { sets } = this.parts;
    const begun: {
      readonly index: number;
      readonly namespace: string;
      readonly place: SpanPlace;
    }[] = [];
    for (const [index, request] of requests.entries()) {
      const place = this.begin(request);
      if (place !== null) begun.push({ index, namespace: request.namespace, place });
    }
    if (begun.length === 0) return sets.setMany(requests);
    const traced = [...requests];
    for (const { index, place } of begun)
      traced[index] = within(requests[index] as SetRequest, place);
    return sets.setMany(traced).then((outcomes) => {
      for (const { index, namespace, place } of begun)
        this.end(place, namespace, outcomes[index] as ChangeOutcome);
      return outcomes;
    });
  }

  private begin({ definition: { trace } }: SetRequest): SpanPlace | null {
    const { tracer, clock } = this.parts;
    return tracer.decide(trace) ? tracer.place(trace, clock.now()) : null;
  }

  private end(place: SpanPlace, namespace: string, outcome: ChangeOutcome): void {
    this.parts.tracer.end(place, {
      name: 'set',
      kind: spanKind.server,
      endMs: this.parts.clock.now(),
      attributes: `${this.namespaces.of(namespace)},${outcomeText(outcome)}`,
      error: outcome.ok ? null : outcome.error.message,
    });
  }
}

/** The timer keeps the span of its set, not of the request: replicas and pops come of the set. */
function within(request: SetRequest, place: SpanPlace): SetRequest {
  return { ...request, definition: { ...request.definition, trace: contextOf(place) } };
}

const idText = stringAttribute('carillon.timer.id');
const haveText = integerAttribute('carillon.copies.have');
const wantedText = integerAttribute('carillon.copies.wanted');

function outcomeText(outcome: ChangeOutcome): string {
  if (!outcome.ok) return attributeText('error.type', outcome.error.code);
  const { id, copies } = outcome;
  return `${idText(id)},${haveText(copies.have)},${wantedText(copies.wanted)}`;
}
