/**
 * P1, acknowledged means safe: at the moment a client hears a 2xx, as many members hold the record as the answer says
 * (a member that crashed since counts: it had it). In a whole cluster that is as many as the timer wants.
 */
import { firstSentMs, type Operation, opaqueOf } from '../history.ts';
import { type Checker, type Judge, noticeMs } from '../judge.ts';
import { holds } from './holders.ts';

export class Safe implements Checker {
  private readonly judge: Judge;

  constructor(judge: Judge) {
    this.judge = judge;
  }

  onAck(operation: Operation): void {
    const { judge } = this;
    const { id } = operation.timer;
    if (id === null) return;
    const sentMs = firstSentMs(operation);
    if (operation.have < operation.wanted) this.checkExcuse(operation, sentMs);
    const holders = this.holders(operation, id);
    const crashed = [...judge.cluster.members.keys()].filter(
      (name) =>
        !holders.includes(name) && judge.faults.find(name, ['down'], sentMs, judge.nowMs) !== null,
    );
    if (holders.length + crashed.length >= operation.have) return;
    judge.violate(
      'P1',
      `"${opaqueOf(operation)}" (${id}) was acknowledged with ${operation.have} copies, but ${holders.length === 0 ? 'nobody' : `only ${holders.join(', ')}`} has it.`,
    );
  }

  private checkExcuse(operation: Operation, sentMs: number): void {
    const { judge } = this;
    const kinds = ['down', 'paused', 'network', 'disk', 'view'] as const;
    const fault = judge.faultAnywhere(kinds, sentMs - 2 * noticeMs, judge.nowMs);
    if (fault !== null) return;
    judge.violate(
      'P1',
      `"${opaqueOf(operation)}" got ${operation.have} of ${operation.wanted} copies in a whole cluster.`,
    );
  }

  private holders(operation: Operation, id: string): string[] {
    const { members } = this.judge.cluster;
    return [...members.values()]
      .filter(({ member }) => member !== null && holds(member, id.slice(0, 16), operation))
      .map(({ name }) => name);
  }
}
