/** Exchanges by `fetch`: in browsers, workers, Deno and Bun, and wherever a caller gives a `fetch` of its own. */
import type { Exchange } from './exchange.ts';

export function fetched(send: typeof fetch): Exchange {
  return async ({ method, url, headers, body, signal }) => {
    const answer = await send(url, { method, headers, body, signal, redirect: 'error' });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
}
