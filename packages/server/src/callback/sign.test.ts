import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { callbackId, Signer } from './sign.ts';

const oldSecret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const newSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const strange = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const wallMs = Date.now();

describe('Signer', () => {
  it('signs as the standardwebhooks package does', () => {
    const body = '{"a":"ü"}';
    const headers = new Signer([newSecret]).headers('id_1', wallMs, Buffer.from(body));
    expect(headers['webhook-signature']).toBe(
      new Webhook(newSecret).sign('id_1', new Date(wallMs), body),
    );
  });

  it('is accepted by the package under either of two overlapping secrets, and under no other', () => {
    const body = '{"call":1}';
    const headers = new Signer([newSecret, oldSecret]).headers('id_2', wallMs, Buffer.from(body));
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [oldSecret, newSecret]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual({ call: 1 });
    }
    expect(() => new Webhook(strange).verify(body, headers)).toThrow(/signature/i);
    expect(() => new Webhook(newSecret).verify('{"call":2}', headers)).toThrow(/signature/i);
  });

  it('holds for any JSON text and any pop', () => {
    const signer = new Signer([newSecret]);
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.nat(), (body, hi, sequence) => {
        const number = hi.toString(16).padStart(16, '0');
        const id = callbackId(number, { versionMs: wallMs, versionTie: 3 }, sequence);
        const headers = signer.headers(id, wallMs, Buffer.from(body));
        expect(new Webhook(newSecret).verify(body, headers)).toEqual(JSON.parse(body));
      }),
      { numRuns: 50 },
    );
  });

  it('signs bytes that are not text', () => {
    const one = new Signer([newSecret]).headers('a', wallMs, Uint8Array.of(0xff, 0x00));
    const other = new Signer([newSecret]).headers('a', wallMs, Uint8Array.of(0xfe, 0x00));
    expect(one['webhook-signature']).not.toBe(other['webhook-signature']);
  });

  it.each([
    ['empty', ''],
    ['no prefix', Buffer.alloc(32).toString('base64')],
    ['not base64', 'whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!'],
    ['23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['trailing line end', `${newSecret}\n`],
  ])('refuses a secret (%s) and does not repeat it', (_, secret) => {
    const make = () => new Signer([newSecret, secret]);
    expect(make).toThrow(/^Signing secret 2 /);
    if (secret !== '') expect(make).not.toThrow(secret.trim());
  });
});

describe('callbackId', () => {
  const pop = {
    id: '00000001ffffffff0000204080102040-2',
    versionMs: 1_700_000_000_000,
    versionTie: 5,
    sequence: 3,
  };
  const nameOf = ({ id, sequence, ...version }: typeof pop) => callbackId(id, version, sequence);

  it('is made of number, version and sequence, without a full stop', () => {
    expect(nameOf(pop)).toBe('00000001ffffffff_1700000000000_5_3');
  });

  it('is the same wherever the replicas are', () => {
    expect(nameOf({ ...pop, id: '00000001ffffffff-2' })).toBe(nameOf(pop));
  });

  it.each([
    ['number', { id: '00000001fffffffe0000204080102040-2' }],
    ['version', { versionMs: 2 }],
    ['tie', { versionTie: 2 }],
    ['sequence', { sequence: 2 }],
  ])('differs when %s differs', (_, change) => {
    expect(nameOf({ ...pop, ...change })).not.toBe(nameOf(pop));
  });
});
