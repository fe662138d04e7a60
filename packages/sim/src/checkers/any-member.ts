/**
 * P7, any member: while the cluster is whole, every member carries out a client's request at the first attempt, and
 * reads and lists show changes made through any other member.
 */
import { type Client, inNamespace } from '../client.ts';
import { bodyOf, firstSentMs, numberOf, type Operation, opaqueOf } from '../history.ts';
import { type Checker, type Judge, noticeMs } from '../judge.ts';
import { Dues } from './dues.ts';

const kinds = ['down', 'paused', 'stalled', 'network', 'disk', 'view'] as const;

interface Page {
  readonly timers: readonly { readonly id: string }[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

export class AnyMember implements Checker {
  private readonly judge: Judge;
  private readonly client: Client;
  private readonly dues: Dues;

  constructor(judge: Judge, client: Client) {
    this.judge = judge;
    this.client = client;
    this.dues = new Dues(judge);
  }

  onAck(operation: Operation): void {
    const { judge } = this;
    const refused = operation.attempts.filter(
      ({ status, arrivedMs }) => arrivedMs !== null && status !== null && status >= 300,
    );
    if (refused.length === 0) return;
    const fault = judge.faultAnywhere(kinds, firstSentMs(operation) - 2 * noticeMs, judge.nowMs);
    if (fault !== null) return;
    const [attempt] = refused;
    judge.violate(
      'P7',
      `${attempt?.member} answered ${attempt?.status} to "${opaqueOf(operation)}" in a whole cluster.`,
    );
  }

  /** At the end any member lists every timer that lives, wherever it is. */
  async finish(): Promise<void> {
    const { judge } = this;
    const [asked] = judge.cluster.healthy.slice(-1);
    if (asked === undefined) return;
    const living = judge.history.timers.flatMap((timer) => {
      const last = timer.operations.at(-1);
      return last !== undefined && this.lives(last) ? [last] : [];
    });
    const listed = new Set<string>();
    for (const namespace of judge.history.namespaces) {
      for (const number of await this.list(asked.name, namespace)) {
        listed.add(`${namespace} ${number}`);
      }
    }
    for (const operation of living) {
      const { namespace } = operation.timer;
      if (listed.has(`${namespace} ${numberOf(operation.timer)}`)) continue;
      judge.violate('P7', `${asked.name} does not list "${opaqueOf(operation)}", which lives.`);
    }
  }

  private lives(operation: Operation): boolean {
    const { judge } = this;
    const { wish, ackMs } = operation;
    if (wish === null || ackMs === null) return false;
    if (!judge.isLastWord(operation) || judge.destroyed(operation)) return false;
    const marginMs = 5000 + judge.steppedMs() + judge.driftMs(judge.nowMs);
    return this.dues.livesUntilMs(operation) > judge.nowMs + marginMs;
  }

  /** Reads all pages of the list through a member. In a whole cluster each of them is there, and complete. */
  async readPages(member: string, limit: number): Promise<void> {
    const { judge } = this;
    for (const namespace of judge.history.namespaces) {
      let query: string | null = `limit=${limit}`;
      while (query !== null) {
        const sentMs = judge.nowMs;
        const page = await this.page(member, namespace, query);
        // The answer, or the request, may have been lost.
        if (page === null) return;
        const isWhole = page.missing.length === 0;
        if (!isWhole && judge.faultAnywhere(kinds, sentMs - 2 * noticeMs, judge.nowMs) === null) {
          judge.violate('P7', `${member} did not list all timers in a whole cluster.`);
        }
        const { cursor }: Page = page;
        query = cursor === null ? null : `limit=${limit}&cursor=${cursor}`;
      }
    }
  }

  private async list(member: string, namespace: string): Promise<ReadonlySet<string>> {
    const numbers = new Set<string>();
    let query = 'limit=50';
    for (;;) {
      const page = await this.page(member, namespace, query);
      if (page === null) {
        this.judge.violate('P7', `${member} does not list timers.`);
        return numbers;
      }
      for (const { id } of page.timers) numbers.add(id.slice(0, 16));
      if (page.cursor === null) return numbers;
      query = `limit=50&cursor=${page.cursor}`;
    }
  }

  /** null: the member did not answer, or not with a page. */
  private async page(member: string, namespace: string, query: string): Promise<Page | null> {
    const request = { method: 'GET', path: '/timers', query, headers: {}, body: new Uint8Array() };
    const response = await this.client.ask(member, inNamespace(request, namespace));
    return response?.status === 200 ? (JSON.parse(response.body) as Page) : null;
  }

  /** The result of a read through some member: the status, and the opaque of the timer. */
  onRead(timer: Operation['timer'], member: string, status: number, opaque: string | null): void {
    const { judge } = this;
    const last = timer.operations.at(-1);
    if (last === undefined || last.ackMs === null) return;
    const fault = judge.faultAnywhere(kinds, last.ackMs - 2 * noticeMs, judge.nowMs);
    if (fault !== null) return;
    if (last.kind === 'cancel' && status !== 404) {
      judge.violate('P7', `${member} shows "${opaque}" (${status}), which was cancelled.`);
    }
    if (last.wish === null) return;
    const endMs = this.dues.livesUntilMs(last);
    if (judge.nowMs < endMs - 100 && opaque !== bodyOf(last)) {
      judge.violate('P7', `${member} answered ${status} for "${opaqueOf(last)}", which lives.`);
    }
  }
}
