import { expect, test } from 'vitest';
import type { LocalMember } from '../local-member.ts';
import { newSlot, trustedMs } from './slot.ts';

const trustedFor = (ms: number): LocalMember => ({ remainingMs: () => ms }) as LocalMember;

test.each([
  ['no member', null, null, 0],
  ['its member alone', 4000, null, 4000],
  ['handed over to a member whose lease ends sooner', 4000, 1000, 1000],
  ['handed over by a member whose lease ends sooner', 1000, 4000, 1000],
  ['handed over to a member that was just lost', 4000, 0, 0],
])(
  'locks in a slot are trusted as long as every lease that its record may be under: %s',
  (_case, own, heir, ms) => {
    const slot = newSlot('p/', 7);
    slot.member = own === null ? null : trustedFor(own);
    slot.heir = heir === null ? null : trustedFor(heir);
    expect(trustedMs(slot)).toBe(ms);
  },
);
