/** HTTP to a collector, over kept connections. Of its answers the status counts; one that does not end is cut off. */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Config } from '../config/config.ts';
import type { Otlp, OtlpAnswer } from '../telemetry/exporter.ts';

const limitMs = 10_000;
/** Bytes of an answer that are read; behind a longer one the connection is closed. */
const answerBytesMax = 64 * 1024;
/** Answers of status 1xx before the one that counts. */
const interimCountMax = 16;

/** null: no collector is configured. */
export function systemOtlp({ endpoint, headers }: Config['telemetry']): Otlp | null {
  if (endpoint === null) return null;
  const isTls = endpoint.startsWith('https:');
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const request = isTls ? httpsRequest : httpRequest;
  return {
    post: (path, body, done) => {
      const told = once(done);
      const options = {
        agent,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(limitMs),
      };
      const asked = request(`${endpoint}${path}`, options, (answer) => {
        const status = answer.statusCode ?? 0;
        drain(answer);
        answer.once('close', () => told({ status, reason: `The collector answered ${status}.` }));
      });
      asked.on('error', (error) => told({ status: 0, reason: error.message }));
      boundInterim(asked);
      asked.end(body);
    },
    close: () => agent.destroy(),
  };
}

function drain(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > answerBytesMax) answer.destroy();
  });
}

function boundInterim(asked: ClientRequest): void {
  let count = 0;
  asked.on('information', () => {
    if (++count > interimCountMax)
      asked.destroy(new Error('The collector sends no answer but 1xx.'));
  });
}

function once(done: (answer: OtlpAnswer) => void): (answer: OtlpAnswer) => void {
  let isDone = false;
  return (answer) => {
    if (isDone) return;
    isDone = true;
    done(answer);
  };
}
