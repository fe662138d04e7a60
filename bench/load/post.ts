/**
 * The callback of systems without callbacks of their own: an HTTP request with undici, as their users write it in a
 * worker.
 */
import { Pool } from 'undici';

const connectionCount = 128;

export class Poster {
  private readonly pool: Pool;
  private readonly path: string;

  constructor(uri: string) {
    const { origin, pathname } = new URL(uri);
    this.pool = new Pool(origin, { connections: connectionCount });
    this.path = pathname;
  }

  async post(payload: string, dueMs: number): Promise<void> {
    const { statusCode, body } = await this.pool.request({
      path: this.path,
      method: 'POST',
      headers: {
        'content-type': 'text/plain',
        'x-timer-due': new Date(dueMs).toISOString(),
        // As a member names it: `receiver` of the client library takes it then.
        'x-timer-id': payload.slice(0, 10),
      },
      body: payload,
    });
    await body.dump();
    if (statusCode >= 300) throw new Error(`The receiver answered ${statusCode}.`);
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}
