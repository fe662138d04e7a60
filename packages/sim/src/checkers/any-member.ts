/**
 * P7, any member: while the cluster is whole, every member carries out a client's request at the first attempt, and
 * reads and lists show changes made through any other member.
 */
import { type Client, inNamespace } from '../client.ts';
import { bodyOf, firstSentMs, numberOf, type Operation, opaqueOf } from '../history.ts';
import { type Checker, type Judge, noticeMs } from '../judge.ts';
import { Dues } from './dues.ts';

const kinds = ['down', 'paused', 'stalled', 'network', 'disk', 'view'] as const;

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
    const { judge, client } = this;
    const [asked] = judge.cluster.healthy.slice(-1);
    if (asked === undefined) return;
    const living = judge.history.timers.flatMap((timer) => {
      const last = timer.operations.at(-1);
      return last !== undefined && this.lives(last) ? [last] : [];
    });
    const listed = new Set<string>();
    for (const namespace of judge.history.namespaces) {
      for (const number of await this.list(client, asked.name, namespace)) {
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

  private async list(
    client: Client,
    member: string,
    namespace: string,
  ): Promise<ReadonlySet<string>> {
    const numbers = new Set<string>();
    let query = 'limit=50';
    for (;;) {
      const request = {
        method: 'GET',
        path: '/timers',
        query,
        headers: {},
        body: new Uint8Array(),
      };
      const response = await client.ask(member, inNamespace(request, namespace));
      if (response?.status !== 200) {
        this.judge.violate('P7', `${member} does not list timers: ${response?.status}.`);
        return numbers;
      }
      const page = JSON.parse(response.body) as { timers: { id: string }[]; cursor: string | null };
      for (const { id } of page.timers) numbers.add(id.slice(0, 16));
      if (page.cursor === null) return numbers;
      query = `limit=50&cursor=${page.cursor}`;
    }
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
