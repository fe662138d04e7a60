/** The contract of the network, run on TCP and on the simulated network. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Network } from '../env.ts';

export interface NetworkParty {
  readonly network: Network;
  /** Where others reach it, valid once `listen` resolved. */
  readonly address: () => string;
}

export interface NetworkWorld {
  /** Another party in the same world. */
  join(): NetworkParty;
  /** Waits for `outcome`; in virtual time it lets time pass. */
  until<T>(outcome: Promise<T>): Promise<T>;
  /** An address without a listener. */
  readonly nowhere: string;
  end(): Promise<void>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const limitMs = 5000;
/** Long enough for an answer that is on its way, short enough to wait for in real time. */
const shortMs = 60;

export function networkContract(name: string, make: () => Promise<NetworkWorld>): void {
  describe(`${name} keeps the contract of a network`, () => {
    let world: NetworkWorld;
    let caller: NetworkParty;
    let callee: NetworkParty;

    beforeEach(async () => {
      world = await make();
      caller = world.join();
      callee = world.join();
    });
    afterEach(() => world.end());

    const ask = (text: string, waitMs = limitMs): Promise<string | null> =>
      new Promise((resolve) => {
        caller.network.call(callee.address(), encoder.encode(text), { limitMs: waitMs }, (answer) =>
          resolve(answer === null ? null : decoder.decode(answer)),
        );
      });
    const echo = (): Promise<void> =>
      callee.network.listen((frame, reply) => reply(encoder.encode(`${decoder.decode(frame)}!`)));

    test('the answer to a call reaches its caller', async () => {
      await echo();
      expect(await world.until(ask('hello'))).toBe('hello!');
    });

    test('many calls at once get their own answers', async () => {
      await echo();
      const texts = Array.from({ length: 500 }, (_, i) => `call ${i}`);
      const answers = await world.until(Promise.all(texts.map((text) => ask(text))));
      expect(answers).toEqual(texts.map((text) => `${text}!`));
    });

    test('frames arrive in the order they were sent', async () => {
      const arrived: string[] = [];
      await callee.network.listen((frame, reply) => {
        arrived.push(decoder.decode(frame));
        reply(frame);
      });
      const texts = Array.from({ length: 300 }, (_, i) => `${i}`);
      // Two bursts: the second uses the connections that the first has opened.
      await world.until(Promise.all(texts.slice(0, 100).map((text) => ask(text))));
      await world.until(Promise.all(texts.slice(100).map((text) => ask(text))));
      expect(arrived).toEqual(texts);
    });

    test('heavy frames arrive in the order they were sent, and the others too', async () => {
      const arrived: string[] = [];
      await callee.network.listen((frame, reply) => {
        arrived.push(decoder.decode(frame));
        reply(frame);
      });
      const send = (text: string, isHeavy: boolean): Promise<Uint8Array | null> =>
        new Promise((resolve) => {
          const terms = { limitMs, isHeavy };
          caller.network.call(callee.address(), encoder.encode(text), terms, resolve);
        });
      const texts = Array.from({ length: 100 }, (_, i) => `${i}`);
      const sent = texts.flatMap((text) => [send(`h${text}`, true), send(text, false)]);
      await world.until(Promise.all(sent));
      expect(arrived.filter((text) => text.startsWith('h'))).toEqual(texts.map((one) => `h${one}`));
      expect(arrived.filter((text) => !text.startsWith('h'))).toEqual(texts);
    });

    test('answers may come in another order than the calls', async () => {
      const held: (() => void)[] = [];
      await callee.network.listen((frame, reply) => {
        const copy = frame.slice();
        held.push(() => reply(copy));
        if (held.length === 3) for (const answer of held.toReversed()) answer();
      });
      const answers = await world.until(Promise.all(['a', 'b', 'c'].map((text) => ask(text))));
      expect(answers).toEqual(['a', 'b', 'c']);
    });

    test('silence becomes null, once', async () => {
      await callee.network.listen(() => {});
      expect(await world.until(ask('anybody?', shortMs))).toBeNull();
    });

    test('an address without a listener becomes null', async () => {
      const answer = new Promise<Uint8Array | null>((resolve) => {
        caller.network.call(world.nowhere, encoder.encode('x'), { limitMs: shortMs }, resolve);
      });
      expect(await world.until(answer)).toBeNull();
    });

    test('done is called once even when the answer comes late, comes twice, and the network closes', async () => {
      const replies: ((answer: Uint8Array) => void)[] = [];
      await callee.network.listen((_frame, reply) => replies.push(reply));
      const outcomes: (string | null)[] = [];
      const late = new Promise<void>((resolve) => {
        caller.network.call(
          callee.address(),
          encoder.encode('slow'),
          { limitMs: shortMs },
          (answer) => {
            outcomes.push(answer === null ? null : decoder.decode(answer));
            resolve();
          },
        );
      });
      await world.until(late);
      for (const reply of replies) {
        reply(encoder.encode('late'));
        reply(encoder.encode('later'));
      }
      await world.until(ask('a round trip, so that the late answers are here', shortMs));
      await caller.network.close();
      expect(outcomes).toEqual([null]);
    });

    test('a late answer is not taken for the answer of another call', async () => {
      const replies: ((answer: Uint8Array) => void)[] = [];
      const { promise: bothArrived, resolve } = Promise.withResolvers<void>();
      await callee.network.listen((frame, reply) => {
        if (decoder.decode(frame) === 'hello') reply(frame);
        else if (replies.push(reply) === 2) resolve();
      });
      // On a connection that is open, the frame arrives also where the call was given up meanwhile.
      expect(await world.until(ask('hello'))).toBe('hello');
      expect(await world.until(ask('first', shortMs))).toBeNull();
      const second = ask('second');
      await world.until(bothArrived);
      replies[0]?.(encoder.encode('answer to first'));
      replies[1]?.(encoder.encode('answer to second'));
      expect(await world.until(second)).toBe('answer to second');
    });

    test('done is never called inside the call that takes it', async () => {
      await echo();
      const seen: boolean[] = [];
      const call = (address: string): Promise<void> =>
        new Promise((resolve) => {
          let inside = true;
          caller.network.call(address, encoder.encode('x'), { limitMs: shortMs }, () => {
            seen.push(inside);
            resolve();
          });
          inside = false;
        });
      // Nowhere twice: the second time it is known to be in vain.
      for (const address of [callee.address(), world.nowhere, world.nowhere]) {
        await world.until(call(address));
      }
      const open = call(callee.address());
      await caller.network.close();
      await world.until(open);
      await world.until(call(callee.address()));
      expect(seen).toEqual([false, false, false, false, false]);
    });

    test('a caller may reuse the bytes of a frame as soon as the call returns', async () => {
      await echo();
      const frame = encoder.encode('original');
      const answer = new Promise<string | null>((resolve) => {
        caller.network.call(callee.address(), frame, { limitMs }, (bytes) =>
          resolve(bytes === null ? null : decoder.decode(bytes)),
        );
      });
      frame.fill(0);
      expect(await world.until(answer)).toBe('original!');
    });

    test('a frame of a megabyte and an empty one arrive whole', async () => {
      await callee.network.listen((frame, reply) => reply(frame.slice()));
      const big = Uint8Array.from({ length: 1024 * 1024 + 3 }, (_, i) => (i * 31) & 255);
      for (const frame of [big, new Uint8Array(0), big]) {
        const answer = await world.until(
          new Promise<Uint8Array | null>((resolve) => {
            caller.network.call(callee.address(), frame, { limitMs }, resolve);
          }),
        );
        expect(answer?.length).toBe(frame.length);
        expect(Buffer.compare(answer ?? new Uint8Array(1), frame)).toBe(0);
      }
    });

    test('both parties can call each other', async () => {
      await echo();
      await caller.network.listen((_frame, reply) => reply(encoder.encode('back')));
      const back = new Promise<Uint8Array | null>((resolve) => {
        callee.network.call(caller.address(), encoder.encode('x'), { limitMs }, resolve);
      });
      const [there, andBack] = await world.until(Promise.all([ask('there'), back]));
      expect([there, decoder.decode(andBack ?? new Uint8Array())]).toEqual(['there!', 'back']);
    });

    test('closing answers open calls with null, and later calls too', async () => {
      await callee.network.listen(() => {});
      const open = ask('open');
      await caller.network.close();
      expect(await world.until(open)).toBeNull();
      expect(await world.until(ask('too late'))).toBeNull();
    });

    test('a callee that closed answers nothing', async () => {
      await echo();
      expect(await world.until(ask('before'))).toBe('before!');
      await callee.network.close();
      expect(await world.until(ask('after', shortMs))).toBeNull();
    });
  });
}
