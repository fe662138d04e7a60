/** Names that change their mind between being checked and being connected to, served by a real name server. */
import type { CallbackResult } from '@carillon/core';
import { settle, VirtualClock } from '@carillon/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpCallbacks } from './callback.ts';
import { Denied } from './guard/denied.ts';
import { Guard, parseAllow } from './guard/guard.ts';
import { NameServer, type Zone } from './guard/name-server.contract.ts';
import { TestReceiver } from './receiver.contract.ts';
import { systemResolve } from './guard/resolve.ts';
import { splitUri } from './uri.ts';

const clock = new VirtualClock();
let names: NameServer;
/** At an address that may be called. */
let receiver: TestReceiver;
/** At an address that may not, on the same port. */
let victim: TestReceiver;
let callbacks: HttpCallbacks;
let answer: string;

beforeEach(async () => {
  names = await NameServer.start(() => []);
  answer = 'HTTP/1.1 204 X\r\nconnection: close\r\n\r\n';
  receiver = await TestReceiver.start(() => answer);
  victim = await TestReceiver.start(undefined, '127.0.0.2', receiver.port);
  const guard = new Guard({ allow: parseAllow('127.0.0.1'), loopback: false, denied: () => none });
  callbacks = new HttpCallbacks({ clock, guard, resolve: systemResolve([names.address]) });
});
afterEach(async () => {
  await callbacks.close();
  await receiver.stop();
  await victim.stop();
  await names.stop();
});

const none: readonly [] = [];

async function call(host: string): Promise<CallbackResult> {
  const results: CallbackResult[] = [];
  const uri = `http://${host}:${receiver.port}/`;
  callbacks.call(
    {
      uri,
      split: splitUri(uri),
      namespace: 'default',
      method: 'POST',
      headers: {},
      body: new Uint8Array(),
      limitMs: 5000,
    },
    (result) => results.push(result),
  );
  while (results.length === 0) await clock.advance(0);
  await settle();
  return results[0] as CallbackResult;
}

/** The n-th question for IPv4 gets the n-th answer, the last one again and again. */
function inTurn(...answers: (readonly string[])[]): Zone {
  let asked = 0;
  return (_, type) => (type === 'A' ? (answers[Math.min(asked++, answers.length - 1)] ?? []) : []);
}

describe.runIf(process.platform === 'linux')(
  'a name that changes between check and connect',
  () => {
    it('is looked up once for each connection: the checked address is the one connected to', async () => {
      names.zone = inTurn(['127.0.0.1'], ['127.0.0.2']);
      expect(await call('rebind.example')).toMatchObject({ status: 204 });
      expect(names.questions.toSorted()).toEqual(['A rebind.example', 'AAAA rebind.example']);
      expect([receiver.connectionCount, victim.connectionCount]).toEqual([1, 0]);
    });

    it('is judged anew at the next connection', async () => {
      names.zone = inTurn(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']);
      expect(await call('rebind.example')).toMatchObject({ status: 204 });
      expect(await call('rebind.example')).toMatchObject({ reason: 'forbidden' });
      expect(await call('rebind.example')).toMatchObject({ status: 204 });
      expect([receiver.connectionCount, victim.connectionCount]).toEqual([2, 0]);
    });

    it('is not followed by a kept connection, and is refused when that one is gone', async () => {
      names.zone = inTurn(['127.0.0.1'], ['127.0.0.2']);
      answer = 'HTTP/1.1 204 X\r\n\r\n';
      expect(await call('rebind.example')).toMatchObject({ status: 204 });
      expect(await call('rebind.example')).toMatchObject({ status: 204 });
      answer = 'HTTP/1.1 204 X\r\nconnection: close\r\n\r\n';
      expect(await call('rebind.example')).toMatchObject({ status: 204 });
      expect(await call('rebind.example')).toMatchObject({ reason: 'forbidden' });
      expect([receiver.connectionCount, victim.connectionCount]).toEqual([1, 0]);
    });

    it.each([
      'http://169.254.169.254/latest/meta-data/',
      'http://metadata.google.internal/',
      'http://[fd00:ec2::254]/',
      '//127.0.0.2/',
    ])(
      'is sent to %s by a redirect: it is asked for no other name, and goes nowhere',
      async (to) => {
        names.zone = inTurn(['127.0.0.1']);
        answer = `HTTP/1.1 307 X\r\nlocation: ${to}\r\nrefresh: 0; url=${to}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
        expect(await call('rebind.example')).toMatchObject({ kind: 'answer', status: 307 });
        expect(names.questions.toSorted()).toEqual(['A rebind.example', 'AAAA rebind.example']);
        expect([receiver.connectionCount, victim.connectionCount]).toEqual([1, 0]);
      },
    );

    it('does not reach the victim in a thousand turns, in whichever order it answers', async () => {
      let turn = 0;
      names.zone = (_, type) => {
        turn++;
        if (type === 'AAAA') return turn % 5 === 0 ? ['0:0:0:0:0:ffff:7f00:2'] : [];
        if (turn % 3 === 0) return ['127.0.0.2'];
        return turn % 7 === 0 ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.1'];
      };
      const results = { reached: 0, forbidden: 0 };
      for (let i = 0; i < 1000; i++) {
        const result = await call('rebind.example');
        if (result.kind === 'answer') results.reached++;
        else if (result.kind === 'no-answer' && result.reason === 'forbidden') results.forbidden++;
      }
      expect(victim.connectionCount).toBe(0);
      expect(results.reached).toBe(receiver.connectionCount);
      expect(results.reached + results.forbidden).toBe(1000);
      expect(Math.min(results.reached, results.forbidden)).toBeGreaterThan(100);
    });

    it('one forbidden address in either family spoils the name', async () => {
      names.zone = (_, type) => (type === 'A' ? ['127.0.0.1'] : ['0:0:0:0:0:0:0:1']);
      expect(await call('mixed.example')).toMatchObject({ reason: 'forbidden' });
      expect(receiver.connectionCount).toBe(0);
    });
  },
);

it('a name of etcd that leads elsewhere protects the new address', async () => {
  names.zone = inTurn(['127.0.0.9'], ['127.0.0.1']);
  const denied = new Denied({
    clock,
    resolve: systemResolve([names.address]),
    fixed: [{ host: 'etcd.example', port: receiver.port }],
  });
  await denied.start();
  expect(denied.all.map(({ host }) => host)).toEqual(['etcd.example', '127.0.0.9']);
  await clock.advance(10_000);
  await expect
    .poll(() => denied.all.map(({ host }) => host))
    .toEqual(['etcd.example', '127.0.0.1']);
  denied.close();
});
