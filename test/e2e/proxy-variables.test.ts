/** Callbacks go to the uri of the timer, even when the environment of the process names a proxy. */
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { CliProcess } from './cli-process.ts';
import { listening } from './support/listening.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** A server that counts requests, and answers 200. */
async function counter(): Promise<{ readonly url: string; readonly paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.end();
  });
  server.on('connect', (request, socket) => {
    paths.push(`CONNECT ${request.url}`);
    socket.destroy();
  });
  const port = await listening(server);
  opened.push(server);
  return { url: `http://127.0.0.1:${port}`, paths };
}

test('proxy variables have no effect on callbacks', async () => {
  const proxy = await counter();
  const receiver = await counter();
  const variables = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [
    [name, proxy.url],
    [name.toUpperCase(), proxy.url],
  ]);
  const env = {
    ...(Object.fromEntries(variables) as Record<string, string>),
    NODE_USE_ENV_PROXY: '1',
  };
  const member = new CliProcess(['serve', '--json', '--memory', '--listen', '127.0.0.1:0'], env);
  opened.push({ close: () => member.kill('SIGKILL') });
  const { url } = await member.line((line) => 'url' in line);
  const answer = await fetch(`${String(url)}/timers`, {
    method: 'POST',
    body: JSON.stringify({
      timing: { interval: 0.1 },
      callback: { http: { uri: `${receiver.url}/popped` } },
    }),
  });
  expect(answer.status).toBe(200);
  await expect.poll(() => receiver.paths, { timeout: 20_000 }).toEqual(['/popped']);
  expect(proxy.paths).toEqual([]);
});
