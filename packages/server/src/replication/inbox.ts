/**
 * Frames from other members: each message goes to its handler, and one frame answers them all. Records that would make
 * it too long are left out, and the asker told to ask for them again.
 */
import { type Clock, type FrameHandler, invariant, type Log, MalformedError } from '@carillon/core';
import { answerBytes, frameBytesMax } from './sizes.ts';
import type { Answer } from './wire/answer.ts';
import { decodeMessages, type DelayOf, encodeAnswers, type Frame } from './wire/frame.ts';
import type { Message } from './wire/message.ts';
import { momentOf } from './wire/parts.ts';

/** Calls `answer` once, now or later. */
export type MessageHandler = (
  from: string,
  message: Message,
  answer: (answer: Answer) => void,
) => void;

export interface InboxEnv {
  readonly clock: Clock;
  readonly log: Log;
  readonly delayOf: DelayOf;
}

export function createInbox(self: string, env: InboxEnv, handle: MessageHandler): FrameHandler {
  return (bytes, reply) => {
    const frame = decode(bytes, env);
    // Without an answer the sender counts the frame as lost, and rightly so.
    if (frame === null) return;
    const { protocol, items } = frame;
    const answers: Answer[] = [];
    let left = items.length;
    const finish = (): void => {
      const fits = { protocol, from: self, items: fitting(answers, frame) };
      reply(encodeAnswers(fits, momentOf(env.clock)));
    };
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

/** Before this protocol there was no `later`. */
const laterProtocol = 3;

function fitting(answers: readonly Answer[], { protocol }: Frame<Message>): readonly Answer[] {
  if (protocol < laterProtocol) return answers;
  let bytes = 0;
  return answers.map((answer) => {
    const more = answerBytes(answer);
    if (more > 0 && bytes > 0 && bytes + more > frameBytesMax) return { type: 'later' };
    bytes += more;
    return answer;
  });
}

function decode(bytes: Uint8Array, env: InboxEnv) {
  try {
    return decodeMessages(bytes, momentOf(env.clock), env.delayOf);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    env.log.warn('A frame from a peer was dropped.', {
      event: 'frame-dropped',
      reason: error.message,
    });
    return null;
  }
}
