import type { CallbackResult } from '@carillon/core';
import { SystemClock } from '@carillon/core/system';
import { expect, test } from 'vitest';
import { HttpCallbacks } from './callback.ts';
import { Guard } from './guard/guard.ts';
import { ok, TestReceiver } from './receiver.contract.ts';
import { splitUri } from './uri.ts';

test('the time limit does not end a call whose answer came while the member stood still', async () => {
  const guard = new Guard({ allow: [], loopback: true, denied: () => [] });
  const callbacks = new HttpCallbacks({ clock: new SystemClock(), guard });
  const receiver = await TestReceiver.start((_, socket) => {
    socket.write(ok);
    // The event loop of the member, which is this one, stands still beyond the limit.
    const untilMs = performance.now() + 300;
    while (performance.now() < untilMs);
    return null;
  });
  const uri = receiver.uri();
  const request = { uri, split: splitUri(uri), namespace: 'default', method: 'POST', headers: {} };
  const result = await new Promise<CallbackResult>((resolve) => {
    callbacks.call({ ...request, body: Buffer.from('opaque'), limitMs: 200 }, resolve);
  });
  await callbacks.close();
  await receiver.stop();
  expect(result).toMatchObject({ kind: 'answer', status: 204 });
});
