/**
 * The real holders of each record: asks members for single records as their peers do, because no list of the API shows
 * backups.
 */
import { type LogFields, State, type TimerRecord } from '@carillon/core';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { TcpNetwork } from '../../../packages/server/src/network/tcp-network.ts';
import {
  decodeAnswers,
  encodeMessages,
  protocol,
} from '../../../packages/server/src/replication/wire/frame.ts';
import { momentOf } from '../../../packages/server/src/replication/wire/parts.ts';
import type { RealMember } from './real-member.ts';
import { until } from './until.ts';

const perFrame = 500;
const framesAtOnce = 4;
const answerMs = 20_000;
const patienceMs = 60_000;
const quiet = (_message: string, _fields?: LogFields): void => {};

export class Holders {
  private readonly clock = new SystemClock();
  private readonly network = new TcpNetwork({
    clock: this.clock,
    random: new SystemRandom(),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    listen: { host: '127.0.0.1', port: 0 },
    release: 'test',
  });

  /** The live records a member holds of these timers, by the 16 hex digits that name them. */
  async of(member: RealMember, ids: readonly string[]): Promise<Map<string, TimerRecord>> {
    const found = new Map<string, TimerRecord>();
    const frames = Math.ceil(ids.length / perFrame);
    for (let first = 0; first < frames; first += framesAtOnce) {
      const some = Array.from({ length: Math.min(framesAtOnce, frames - first) }, (_, i) => {
        const from = (first + i) * perFrame;
        return this.frame(member, ids.slice(from, from + perFrame), found);
      });
      await Promise.all(some);
    }
    return found;
  }

  close(): Promise<void> {
    return this.network.close();
  }

  private async frame(
    member: RealMember,
    ids: readonly string[],
    found: Map<string, TimerRecord>,
  ): Promise<void> {
    const items = ids.map((id) => ({
      type: 'read' as const,
      hi: Number.parseInt(id.slice(0, 8), 16),
      lo: Number.parseInt(id.slice(8, 16), 16),
    }));
    const frame = encodeMessages(
      { protocol: protocol.min, from: 'observer', items },
      momentOf(this.clock),
    );
    let bytes: Uint8Array | null = null;
    await until(`${member.name} shows its records`, patienceMs, async () => {
      bytes = await new Promise<Uint8Array | null>((resolve) => {
        this.network.call(member.peer, frame, { limitMs: answerMs }, resolve);
      });
      return bytes !== null;
    });
    if (bytes === null) return;
    const answers = decodeAnswers(bytes, momentOf(this.clock)).items;
    for (const [i, answer] of answers.entries()) {
      if (answer.type !== 'record' || answer.record?.state !== State.live) continue;
      found.set((ids[i] as string).slice(0, 16), answer.record);
    }
  }
}

/** Where each timer is: its holders in the order of its list, and whether a member that is not listed holds it too. */
export interface Whereabouts {
  readonly primaryOf: ReadonlyMap<string, string>;
  /** Timers that are not held by exactly as many members as they want, or by others than their list says. */
  readonly wrong: readonly string[];
}

export async function whereabouts(
  members: readonly RealMember[],
  ids: readonly string[],
  factor: number,
): Promise<Whereabouts> {
  const holders = new Holders();
  const held = await Promise.all(
    members.map(async (member) => [member.name, await holders.of(member, ids)] as const),
  );
  await holders.close();
  const primaryOf = new Map<string, string>();
  const wrong: string[] = [];
  for (const id of ids) {
    const number = id.slice(0, 16);
    const copies = held.flatMap(([name, records]) => {
      const record = records.get(number);
      return record === undefined ? [] : [{ name, replicas: record.replicas }];
    });
    const names = copies.map(({ name }) => name).toSorted();
    const [first] = copies;
    if (first?.replicas[0] !== undefined) primaryOf.set(number, first.replicas[0]);
    const agreed = copies.every(({ replicas }) => replicas.toSorted().join() === names.join());
    if (copies.length !== factor || !agreed) {
      const lists = copies.map(({ name, replicas }) => `${name} [${replicas.join()}]`);
      wrong.push(`${number} is at ${lists.join(' ') || 'no member'}`);
    }
  }
  return { primaryOf, wrong };
}
