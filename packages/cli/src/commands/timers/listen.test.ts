import { describe, expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import { recordingIo } from '../../testing/world.ts';

/** Starts `carillon listen` and gives its URL once it listens. */
async function start(args: readonly string[]) {
  const io = recordingIo();
  const done = run(['listen', '--port', '0', ...args], io, release);
  await expect.poll(() => [...io.outLines, ...io.errLines].join(' ')).toContain('http://');
  const url = /http:\/\/[\d.:]+/.exec([...io.outLines, ...io.errLines].join(' '))?.[0] ?? '';
  return { io, done, url };
}

function pop(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/x`, {
    method: 'POST',
    body: 'hello\u001b[31m',
    headers: {
      'x-timer-id': 'abc-2',
      'x-sequence-number': '3',
      'x-timer-attempt': '1',
      'x-timer-due': new Date(Date.now() - 5000).toISOString(),
      ...headers,
    },
  });
}

describe('carillon listen', () => {
  test('prints each pop with id, sequence, lateness and opaque, and ends with 0 when told', async () => {
    const { io, done, url } = await start([]);
    expect((await pop(url)).status).toBe(200);
    expect((await pop(url, { 'x-timer-attempt': '2', 'x-timer-missed': '4' })).status).toBe(200);
    io.abort();
    expect(await done).toBe(0);
    expect(io.outLines[0]).toMatch(
      /^[\d:.]{12} {2}abc-2 {2}pop 3 {2}5(\.\d)?s late {2}hello·\[31m$/,
    );
    expect(io.outLines[1]).toContain('attempt 2  4 missed');
  });

  test('--json gives objects, --status the answer, --count the end', async () => {
    const { io, done, url } = await start(['--json', '--status', '503', '--count', '2']);
    expect((await pop(url)).status).toBe(503);
    expect((await pop(url, { 'x-timer-due': 'soon' })).status).toBe(503);
    expect(await done).toBe(0);
    const [, first, second] = io.outLines.map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    );
    expect(first).toMatchObject({ id: 'abc-2', sequence: 3, attempt: 1, missed: 0 });
    expect(first?.['lateness-ms']).toBeGreaterThanOrEqual(5000);
    expect(second?.['lateness-ms']).toBeNull();
  });

  test('a taken port is one sentence and exit 1', async () => {
    const { io, done, url } = await start([]);
    const second = recordingIo();
    const port = url.split(':').at(-1) ?? '';
    expect(await run(['listen', '--port', port], second, release)).toBe(1);
    expect(second.errLines).toEqual([
      `Port ${port} of 127.0.0.1 is taken; --port names another, --port 0 takes any free one.`,
    ]);
    io.abort();
    await done;
  });
});
