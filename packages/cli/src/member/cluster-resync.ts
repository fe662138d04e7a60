/** `carillon cluster resync`: asks each member to look at all its timers anew, and waits until they have. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiAnswer,
  type Carillon,
  type Cluster,
  type ClusterMember,
  UnreachableError,
} from '@carillon/client';
import { memberNamed, memberUrl } from './cluster-member.ts';
import { exit, type Io } from '../command.ts';
import { type ConnectFlags, connectTo, serversOf } from './connect.ts';
import { Progress } from '../terminal/progress.ts';
import { jsonLine, paintErr } from '../terminal/style.ts';
import { isJson } from '../timers/api-timer.ts';

const pollMs = 200;

export interface ResyncRequest {
  /** null: every member. */
  readonly name: string | null;
  /** 0: do not wait. */
  readonly limitMs: number;
  readonly flags: ConnectFlags & { readonly json: boolean };
}

type Progressed = Cluster['resync'];

interface Asked {
  readonly member: ClusterMember;
  readonly client: Carillon;
  /** null: it does not answer. */
  progress: Progressed | null;
}

/** Exit 1 when a member does not answer, or is not done in time. */
export async function resync(client: Carillon, request: ResyncRequest, io: Io): Promise<number> {
  const { name, limitMs, flags } = request;
  const { members } = await client.cluster({ signal: io.signal });
  const chosen = name === null ? members : [memberNamed(members, name)];
  const asked: Asked[] = chosen.map((member) => ({
    member,
    client: connectTo([memberUrl(member, serversOf(flags, io))], flags, io),
    progress: null,
  }));
  await Promise.all(asked.map((one) => begin(one, io)));
  if (limitMs > 0) await waitFor(asked, request, io);
  for (const one of asked) print(one, request, io);
  const done = asked.every(
    ({ progress }) => progress !== null && !(limitMs > 0 && progress.running),
  );
  return done ? exit.done : exit.failed;
}

async function begin(one: Asked, io: Io): Promise<void> {
  const { signal } = io;
  one.progress = await answered(async () => {
    const fits = ({ body }: ApiAnswer): boolean => isJson(body);
    await one.client.request({ method: 'POST', path: '/cluster/resync', signal, fits });
    return one.client.cluster({ signal });
  });
}

async function waitFor(asked: readonly Asked[], request: ResyncRequest, io: Io): Promise<void> {
  const progress = new Progress(io, !request.flags.json);
  const endMs = Date.now() + request.limitMs;
  const running = (): Asked[] => asked.filter((one) => one.progress?.running === true);
  while (running().length > 0 && Date.now() < endMs) {
    await sleep(pollMs, undefined, { signal: io.signal });
    for (const one of running()) {
      one.progress = await answered(() => one.client.cluster({ signal: io.signal }));
    }
    const sum = (what: 'checked' | 'total'): number =>
      asked.reduce((total, one) => total + (one.progress?.[what] ?? 0), 0);
    progress.update(sum('checked') / Math.max(1, sum('total')), `${sum('checked')} timers checked`);
  }
}

async function answered(ask: () => Promise<Cluster>): Promise<Progressed | null> {
  try {
    return (await ask()).resync;
  } catch (error) {
    if (error instanceof UnreachableError) return null;
    throw error;
  }
}

function print(
  { member: { name }, progress }: Asked,
  { flags, limitMs }: ResyncRequest,
  io: Io,
): void {
  if (flags.json) return jsonLine(io, { name, answered: progress !== null, ...progress });
  if (progress === null) return io.err(paintErr(io, 'red', `${name} does not answer.`));
  const { checked, moved, total, running } = progress;
  if (!running) return io.out(`${name} has checked ${checked} timers and moved ${moved}.`);
  if (limitMs === 0) return io.out(`${name} looks at its ${total} timers.`);
  io.err(`${name} has checked ${checked} of ${total} timers after the time to wait; it goes on.`);
}
