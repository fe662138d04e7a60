/** Frames from other members: each message goes to its handler, and one frame answers them all. */
import { type Clock, type FrameHandler, invariant, type Log, MalformedError } from '@carillon/core';
import { type Answer, decodeMessages, encodeAnswers, type Message } from './wire.ts';

/** Calls `answer` once, now or later. */
export type MessageHandler = (
  from: string,
  message: Message,
  answer: (answer: Answer) => void,
) => void;

export function createInbox(
  self: string,
  env: { readonly clock: Clock; readonly log: Log },
  handle: MessageHandler,
): FrameHandler {
  return (bytes, reply) => {
    const frame = decode(bytes, env);
    // Without an answer the sender counts the frame as lost, which is what it was.
    if (frame === null) return;
    const { items } = frame;
    const answers: Answer[] = [];
    let left = items.length;
    const finish = (): void =>
      reply(
        encodeAnswers({ protocol: frame.protocol, from: self, items: answers }, env.clock.now()),
      );
    if (left === 0) finish();
    for (let i = 0; i < items.length; i++) {
      handle(frame.from, items[i] as Message, (answer) => {
        invariant(answers[i] === undefined, 'a message is answered once');
        answers[i] = answer;
        if (--left === 0) finish();
      });
    }
  };
}

function decode(bytes: Uint8Array, env: { readonly clock: Clock; readonly log: Log }) {
  try {
    return decodeMessages(bytes, env.clock.now());
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    env.log.warn('A frame from a peer was dropped.', { reason: error.message });
    return null;
  }
}
