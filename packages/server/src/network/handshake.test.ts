import { MalformedError } from '@carillon/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Handshake, type HandshakeOptions, handshakeBytesMax, nonceBytes } from './handshake.ts';
import { RefusedPeerError } from './refusals.ts';

const open: HandshakeOptions = { protocols: { min: 1, max: 3 }, release: '0.2.0', secrets: [] };
const secured: HandshakeOptions = { ...open, secrets: ['cluster secret'] };

let nonceCount = 0;
function nonce(): Uint8Array {
  return new Uint8Array(nonceBytes).fill(++nonceCount);
}

function pair(dialer: HandshakeOptions, acceptor: HandshakeOptions) {
  return {
    dialer: new Handshake(dialer, 'dialer', nonce()),
    acceptor: new Handshake(acceptor, 'acceptor', nonce()),
  };
}

type Alter = (content: Uint8Array, step: number) => Uint8Array;

/** Carries contents to and fro until neither side has more to send; `alter` sits on the wire. */
function converse({ dialer, acceptor }: ReturnType<typeof pair>, alter: Alter = (x) => x): void {
  let toAcceptor = [dialer.start() ?? new Uint8Array()];
  for (let step = 0; toAcceptor.length > 0; step += 2) {
    const toDialer = toAcceptor.flatMap((content) => acceptor.take(alter(content, step)));
    toAcceptor = toDialer.flatMap((content) => dialer.take(alter(content, step + 1)));
  }
}

describe('Handshake', () => {
  test.each([
    ['without a secret', open],
    ['with a secret', secured],
  ])('%s both sides agree on the highest common protocol', (_how, options) => {
    const sides = pair({ ...options, protocols: { min: 2, max: 9 } }, options);
    converse(sides);
    expect(sides.dialer.agreement).toMatchObject({ protocol: 3, release: '0.2.0' });
    expect(sides.acceptor.agreement).toMatchObject({ protocol: 3, release: '0.2.0' });
  });

  test('with a secret nothing is agreed before both proofs are there', () => {
    const { dialer, acceptor } = pair(secured, secured);
    const [hello] = acceptor.take(dialer.start() ?? new Uint8Array());
    const [proof] = dialer.take(hello ?? new Uint8Array());
    expect([dialer.agreement, acceptor.agreement]).toEqual([null, null]);
    const [answer] = acceptor.take(proof ?? new Uint8Array());
    expect(acceptor.agreement).not.toBeNull();
    expect(dialer.agreement).toBeNull();
    dialer.take(answer ?? new Uint8Array());
    expect(dialer.agreement).not.toBeNull();
  });

  test('an acceptor that refuses says its hello first, so that the dialer knows why too', () => {
    const { dialer, acceptor } = pair(open, { ...open, protocols: { min: 8, max: 8 } });
    let lastContent: Uint8Array | null = null;
    try {
      acceptor.take(dialer.start() ?? new Uint8Array());
    } catch (error) {
      if (error instanceof RefusedPeerError) lastContent = error.lastContent;
    }
    expect(() => dialer.take(lastContent ?? new Uint8Array())).toThrow('speaks protocols 8');
  });

  test('members with different number keys refuse each other, whichever dials', () => {
    const [one, other] = [
      { ...secured, numbering: 7 },
      { ...secured, numbering: 8 },
    ];
    for (const [dialer, acceptor] of [
      [one, other],
      [one, secured],
      [secured, one],
    ] as const) {
      const sides = pair(dialer, acceptor);
      expect(() => converse(sides)).toThrow('do not use the same "number-key"');
      expect([sides.dialer.agreement, sides.acceptor.agreement]).toEqual([null, null]);
    }
    const alike = pair(one, { ...one });
    converse(alike);
    expect(alike.acceptor.agreement).not.toBeNull();
  });

  test('a member of a release that tells no number key talks with members that have none', () => {
    const { acceptor, dialer } = pair(open, open);
    const hello = dialer.start() ?? new Uint8Array();
    acceptor.take(hello.subarray(0, hello.length - 4));
    expect(acceptor.agreement).not.toBeNull();
    const keyed = new Handshake({ ...open, numbering: 7 }, 'acceptor', nonce());
    expect(() => keyed.take(hello.subarray(0, hello.length - 4))).toThrow('number-key');
  });

  test('any bit changed on the wire ends the exchange when there is a secret', () => {
    fc.assert(
      fc.property(fc.nat({ max: 3 }), fc.nat({ max: 8 * 200 }), (step, bit) => {
        const sides = pair(secured, secured);
        let changed = false;
        const flip: Alter = (content, at) => {
          if (at !== step || bit >= content.length * 8) return content;
          changed = true;
          const copy = content.slice();
          copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          return copy;
        };
        try {
          converse(sides, flip);
        } catch (error) {
          expect(error instanceof RefusedPeerError || error instanceof MalformedError).toBe(true);
        }
        const agreed = sides.dialer.agreement !== null && sides.acceptor.agreement !== null;
        expect(agreed).toBe(!changed);
      }),
    );
  });

  test('a proof of one exchange does not fit another', () => {
    const first = pair(secured, secured);
    const firstHello = first.dialer.start() ?? new Uint8Array();
    const [answer] = first.acceptor.take(firstHello);
    const [proof] = first.dialer.take(answer ?? new Uint8Array());
    const second = new Handshake(secured, 'acceptor', nonce());
    second.take(firstHello);
    expect(() => second.take(proof ?? new Uint8Array())).toThrow(RefusedPeerError);
  });

  test('a dialer whose own hello comes back refuses, with and without a secret', () => {
    for (const options of [open, secured]) {
      const { dialer } = pair(options, options);
      expect(() => dialer.take(dialer.start() ?? new Uint8Array())).toThrow('leads back');
    }
  });

  test('a dialer does not accept its own proof sent back', () => {
    const { dialer, acceptor } = pair(secured, secured);
    const [hello] = acceptor.take(dialer.start() ?? new Uint8Array());
    const [proof] = dialer.take(hello ?? new Uint8Array());
    expect(() => dialer.take(proof ?? new Uint8Array())).toThrow(RefusedPeerError);
  });

  test('the hello of a release with a very long name still fits', () => {
    const { dialer } = pair({ ...open, release: 'x'.repeat(1000) }, open);
    expect(dialer.start()?.length).toBeLessThanOrEqual(handshakeBytesMax);
  });

  test('any bytes of a stranger end in a sentence, never in another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: handshakeBytesMax }), (content) => {
        const acceptor = new Handshake(open, 'acceptor', nonce());
        try {
          acceptor.take(content);
        } catch (error) {
          expect(error instanceof RefusedPeerError || error instanceof MalformedError).toBe(true);
        }
      }),
    );
  });

  const withSecrets = (...secrets: string[]): HandshakeOptions => ({ ...open, secrets });

  test.each([
    [['old'], ['old', 'new']],
    [['old', 'new'], ['old']],
    [
      ['old', 'new'],
      ['new', 'old'],
    ],
    [
      ['new', 'old'],
      ['old', 'new'],
    ],
    [['new', 'old'], ['new']],
    [['new'], ['new', 'old']],
  ])('while the secret changes, a member with %j reaches one with %j', (ours, theirs) => {
    const sides = pair(withSecrets(...ours), withSecrets(...theirs));
    converse(sides);
    expect([sides.dialer.agreement, sides.acceptor.agreement]).not.toContain(null);
  });

  test.each([
    [['old'], ['new']],
    [['new'], ['old']],
    [['old'], ['new', 'newer']],
    [['new', 'old'], ['old']],
  ])('a member with %j does not reach one with %j', (ours, theirs) => {
    const sides = pair(withSecrets(...ours), withSecrets(...theirs));
    expect(() => converse(sides)).toThrow(RefusedPeerError);
    expect([sides.dialer.agreement, sides.acceptor.agreement]).toEqual([null, null]);
  });

  test('bytes moved from the end of one hello to the beginning of the other are noticed', () => {
    const { dialer, acceptor } = pair(secured, secured);
    const lowered = new Handshake({ ...secured, protocols: { min: 1, max: 1 } }, 'dialer', nonce());
    const between = lowered.start() ?? new Uint8Array();
    const first = dialer.start() ?? new Uint8Array();
    const [answer = new Uint8Array()] = acceptor.take(Buffer.concat([first, between]));
    const [proof = new Uint8Array()] = dialer.take(Buffer.concat([between, answer]));
    expect(() => acceptor.take(proof)).toThrow(RefusedPeerError);
  });

  test('both sides end up with the same keys, others for each direction and each exchange', () => {
    const seals = [1, 2].map(() => {
      const sides = pair(secured, secured);
      converse(sides);
      return [sides.dialer.agreement?.seals, sides.acceptor.agreement?.seals] as const;
    });
    const content = Uint8Array.of(1, 2, 3);
    const [[dialer, acceptor] = [], [otherDialer] = []] = seals;
    const sent = dialer?.sent.next(7, content);
    expect(acceptor?.received.next(7, content)).toEqual(sent);
    expect(acceptor?.sent.next(7, content)).not.toEqual(sent);
    expect(otherDialer?.sent.next(7, content)).not.toEqual(sent);
  });
});
