import { compareVersions, encodeDefinition, State } from '@carillon/core';
import { expect, it } from 'vitest';
import { merge } from '../../timer/merge.ts';
import { afterPop } from '../../timer/schedule.ts';
import { definitionOf, recordOf } from '../../testing/records.ts';
import { deadLetter, originOf, resent } from './dead-letters.ts';

const at = { nowMs: 5000, wallMs: 1_700_000_000_000 };
const timing = {
  kind: 'interval',
  intervalMs: 1000,
  ending: { repeatForMs: null, untilMs: null, count: null, forever: true },
} as const;
const timer = definitionOf({ timing });
const record = recordOf({ sequence: 6, body: encodeDefinition(timer) });
const origin = originOf({ record, definition: timer, missed: 2, id: 'id' }, 'why', at);
const letter = { ...deadLetter(record, timer, origin, at.nowMs), replicas: ['a', 'b'] };
const definition = { ...timer, origin };

it('two requests to send a letter make the same pop, wherever and whenever they are carried out', () => {
  const first = resent(letter, 6000);
  const second = resent(letter, 9000);
  expect(compareVersions(first, second)).toBe(0);
  expect(merge(first, second, ['a', 'b'])).toBe('keep');
});

it('a request that comes after the letter was delivered, given up again or discarded changes nothing', () => {
  const sent = resent(letter, 6000);
  const delivered = afterPop(sent, definition, 0, at);
  expect(delivered.state).toBe(State.tombstone);
  const again = { ...sent, state: State.dead };
  const discarded = { ...letter, versionMs: letter.versionMs + 1, state: State.tombstone };
  for (const stored of [delivered, again, discarded]) {
    expect(merge(stored, resent(letter, 9000), ['a', 'b'])).toBe('keep');
  }
});

it('a letter that was given up again can be sent again', () => {
  const again = { ...resent(letter, 6000), state: State.dead };
  expect(merge(again, resent(again, 9000), ['a', 'b'])).toBe('take');
});
