/** Clients that ask through a proxy, side by side, and note every answer that is not the one to their request. */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, ask, type Asked, type Kind, kinds, seedCount, timerOf } from './asking.ts';

const pipelinedCount = 20;

export class Load {
  /** Answers that are wrong, in words. */
  readonly wrong: string[] = [];
  /** Marks of requests that a member has answered. */
  readonly answered: string[] = [];
  /** Opaques of timers whose sets were confirmed. */
  readonly confirmed: string[] = [];
  readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  /** A client with one connection, and one request of some kind a round. */
  async client(name: string, rounds: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const all = Object.entries(kinds);
    for (let round = 0; round < rounds; round++) {
      const [kindName, kind] = all[round % all.length] as (typeof all)[number];
      const mark = `${name}-${round}`;
      // After an early answer proxies close the connection at some later time.
      const own = kind.early === true ? new Agent() : agent;
      const answer = await ask({ port: this.port, agent: own }, mark, kind.ask(mark, round)).catch(
        (error: NodeJS.ErrnoException) => {
          // A proxy that reads an early answer may reset the connection before it has passed the answer on.
          if (kind.early === true && error.code === 'ECONNRESET') return null;
          throw error;
        },
      );
      if (answer === null) continue;
      this.judge(kind, { answer, mark, round }, kindName);
    }
    agent.destroy();
  }

  /** A client that sends many requests at once, again and again, on one connection. */
  async pipelining(name: string, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const marks = Array.from({ length: pipelinedCount }, (_, i) => `${name}-${round}-${i}`);
      const said = await sent(this.port, marks.map(pipelined).join(''), false);
      const found = [...said.matchAll(/^x-request-id: (\S+)\r?$/gim)].map(([, mark]) => mark);
      if (found.join() !== marks.join()) this.wrong.push(`${marks.join()} got ${found.join()}`);
      this.answered.push(...marks);
    }
  }

  /** Asks for a timer again and again until it is set, however often that fails. */
  async setSurely(name: string, rounds: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < rounds; round++) {
      const opaque = `${name}-${round}`;
      const body = timerOf(opaque, 'load');
      const headers = { 'content-type': 'application/json', 'idempotency-key': opaque };
      const asked: Asked = { method: 'POST', path: '/timers', headers, body };
      for (let tries = 0; !(await this.isSet(agent, `${opaque}-${tries}`, asked)); tries++) {
        await wait(50);
      }
      this.confirmed.push(opaque);
    }
    agent.destroy();
  }

  private async isSet(agent: Agent, mark: string, asked: Asked): Promise<boolean> {
    const answer = await ask({ port: this.port, agent }, mark, asked).catch(() => null);
    if (answer?.status === 200 && answer.mark !== mark) this.wrong.push(`${mark} ${answer.mark}`);
    return answer?.status === 200;
  }

  private judge(kind: Kind, got: { answer: Answer; mark: string; round: number }, name: string) {
    const { answer, mark, round } = got;
    if (kind.early === true && answer.mark === undefined) return;
    this.answered.push(mark);
    if (kind.right(answer, round) && answer.mark === mark) {
      this.confirmed.push(...(kind.sets?.(mark) ?? []));
      return;
    }
    this.wrong.push(`${name} ${mark}: ${answer.status} of ${answer.mark}: ${answer.body}`);
  }
}

function pipelined(mark: string, i: number): string {
  const end = i === pipelinedCount - 1 ? 'connection: close\r\n' : '';
  const [method, path] =
    i % 3 === 1 ? ['HEAD', '/timers'] : ['GET', `/timers?tag=seed-${i % seedCount}`];
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-request-id: ${mark}\r\n${end}\r\n`;
}

/**
 * Everything that comes back until the other side closes the connection; `ends`: the client says that it sends no more.
 */
export function sent(port: number, text: string, ends: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let said = '';
    socket.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(said));
    socket.write(Buffer.from(text, 'latin1'));
    if (ends) socket.end();
  });
}
