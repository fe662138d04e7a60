import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventText, type ServerEvent } from './event-text.ts';

const written =
  'event: history\ndata: [1]\n\n: a comment\n\nevent: snapshot\ndata: {"a":"ü"}\n\ndata: x\n\n';
const events: ServerEvent[] = [
  { name: 'history', data: '[1]' },
  { name: 'snapshot', data: '{"a":"ü"}' },
  { name: 'message', data: 'x' },
];

test('events are the same for every cut of the text into pieces', () => {
  const cuts = fc.array(fc.nat(written.length), { maxLength: 12 });
  fc.assert(
    fc.property(cuts, (given) => {
      const at = [0, ...given.toSorted((a, b) => a - b), written.length];
      const text = new EventText();
      const found = at.slice(1).flatMap((end, i) => text.push(written.slice(at[i], end)));
      expect(found).toEqual(events);
    }),
  );
});

test('an event that has not ended is not told', () => {
  const text = new EventText();
  expect(text.push('event: snapshot\ndata: {}\n')).toEqual([]);
  expect(text.push('\n')).toEqual([{ name: 'snapshot', data: '{}' }]);
});

test('an event that never ends is refused', () => {
  const text = new EventText();
  const piece = 'x'.repeat(1024 * 1024);
  expect(() => {
    for (let i = 0; i < 10; i++) text.push(piece);
  }).toThrow('does not end');
});
