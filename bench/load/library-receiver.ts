/**
 * Where callbacks arrive at a receiver as users write it: `receiver` of the client library behind `node:http`, in a
 * process of its own. The argument is the most pops that it takes in a request; 1: each comes by itself.
 */
import { receiver } from '@carillon/client';
import { listen } from '../../examples/receiver-http.ts';
import { answerCalls } from '../support/remote.ts';
import { ArrivalNotes } from './arrival-notes.ts';
import type { Expected } from './arrivals.ts';
import { indexOf } from './setter.ts';

const notes = new ArrivalNotes();
const receive = receiver(
  ({ opaque, due }) => {
    const nowMs = performance.timeOrigin + performance.now();
    notes.add(indexOf(opaque), due?.getTime() ?? Number.NaN, nowMs);
  },
  { batchCountMax: Number(process.argv[2]) },
);
const listening = listen(receive);

answerCalls({
  uri: async () => `${(await listening).url}/pop`,
  expect: (expected: Expected) => notes.expect(expected),
  arrived: () => notes.count,
  arrivals: () => notes.summary(),
});
