/** Dead letters through the client. */
import { namesOf } from '@carillon/core';
import { callNames, checkedId, checkOptions, pagedNames } from './arguments/call-arguments.ts';
import { ApiError, StrangeAnswer } from './errors.ts';
import { type CallOptions, type PagedOptions, pages } from './pages.ts';
import {
  type DeadLetter,
  type DeadLetterSummary,
  Fields,
  readDeadLetter,
  readDeadLetterSummary,
  readPage,
} from './shapes.ts';
import type { Answer, ApiRequest } from './transport.ts';

/** Which dead letters. */
export interface DeadLetterFilter {
  readonly tag?: string | undefined;
  /** The origin of the callback (`http://a.example:8080`), or with whole first segments of its path. */
  readonly receiver?: string | undefined;
  /** A class of failure (5xx, refused, timeout …) or an HTTP status. */
  readonly failure?: string | undefined;
}

export type DeadLetterListOptions = DeadLetterFilter & PagedOptions;

type Sender = <T>(request: ApiRequest, read: (answer: Answer) => T) => Promise<T>;

/** Pops that gave up: read them, send them again, or let them go. */
export class DeadLetters {
  private readonly request: Sender;

  constructor(request: Sender) {
    this.request = request;
  }

  list(options: DeadLetterListOptions = {}): AsyncGenerator<DeadLetter, void, undefined> {
    checkOptions(options, 'list of dead letters', [...filterNames, ...pagedNames]);
    const { pageSize, signal, onMissing } = options;
    return pages((cursor) => {
      const limit = pageSize === undefined ? undefined : String(pageSize);
      const query = { ...filterOf(options), limit, cursor };
      return this.request({ method: 'GET', path: '/dead-letters', query, signal }, ({ body }) =>
        readPage(body, 'dead-letters', readDeadLetter),
      );
    }, onMissing);
  }

  /** How many there are, by receiver and failure. */
  async summary(options: DeadLetterFilter & CallOptions = {}): Promise<DeadLetterSummary> {
    checkOptions(options, 'summary', [...filterNames, ...callNames]);
    const { signal } = options;
    const query = filterOf(options);
    const request = { method: 'GET', path: '/dead-letters/summary', query, signal } as const;
    return this.request(request, ({ body }) => readDeadLetterSummary(body));
  }

  /** Pops it again, at once. False when there is no such dead letter. */
  async redeliver(id: string, options: CallOptions = {}): Promise<boolean> {
    checkOptions(options, 'redelivery');
    return this.found({ method: 'POST', path: `${pathOf(id)}/redeliver`, signal: options.signal });
  }

  /** Removes it for good. False when there is no such dead letter. */
  async discard(id: string, options: CallOptions = {}): Promise<boolean> {
    checkOptions(options, 'discard');
    return this.found({ method: 'DELETE', path: pathOf(id), signal: options.signal });
  }

  /** Removes all of them that match for good; how many there were. */
  async discardAll(options: DeadLetterFilter & CallOptions = {}): Promise<number> {
    checkOptions(options, 'discard', [...filterNames, ...callNames]);
    let count = 0;
    const query = { all: 'true', ...filterOf(options) };
    for (let more = true; more; ) {
      const { signal } = options;
      const request = { method: 'DELETE', path: '/dead-letters', query, signal } as const;
      const told = await this.request(request, ({ body }) =>
        new Fields(body).having('discarded', 'number'),
      );
      count += told.number('discarded');
      more = told.flag('more');
    }
    return count;
  }

  private async found(request: ApiRequest): Promise<boolean> {
    try {
      await this.request(request, ({ headers }) => {
        if (headers.get('carillon-version') === null) throw new StrangeAnswer('no version');
      });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false;
      throw error;
    }
  }
}

const filterNames = namesOf<DeadLetterFilter>({ tag: 1, receiver: 1, failure: 1 });

function pathOf(id: string): string {
  return `/dead-letters/${encodeURIComponent(checkedId(id, 'dead letter'))}`;
}

function filterOf({ tag, receiver, failure }: DeadLetterFilter) {
  return { tag, receiver, failure };
}
