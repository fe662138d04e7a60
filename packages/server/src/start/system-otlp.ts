/** HTTP to a collector, over kept connections. Answers are not read, but for their status. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Config } from '../config/config.ts';
import type { Otlp, OtlpAnswer } from '../telemetry/exporter.ts';

const limitMs = 10_000;

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
        answer.resume();
        answer.once('close', () => told({ status, reason: `The collector answered ${status}.` }));
      });
      asked.once('error', (error) => told({ status: 0, reason: error.message }));
      asked.end(body);
    },
    close: () => agent.destroy(),
  };
}

function once(done: (answer: OtlpAnswer) => void): (answer: OtlpAnswer) => void {
  let isDone = false;
  return (answer) => {
    if (isDone) return;
    isDone = true;
    done(answer);
  };
}
