/**
 * The listener for members: frames, the handshake, messages and answers. No caller without the secret is let in, and
 * bytes that are no message are refused as malformed.
 */
import { MalformedError } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import { FrameReader } from '../../../packages/server/src/network/frames.ts';
import { Handshake, nonceBytes } from '../../../packages/server/src/network/handshake.ts';
import { RefusedPeerError } from '../../../packages/server/src/network/refusals.ts';
import { Seal } from '../../../packages/server/src/network/seal.ts';
import type { Answer } from '../../../packages/server/src/replication/wire/answer.ts';
import {
  decodeAnswers,
  decodeMessages,
  encodeAnswers,
  encodeMessages,
  protocol,
} from '../../../packages/server/src/replication/wire/frame.ts';
import type { Message } from '../../../packages/server/src/replication/wire/message.ts';
import { recordOf } from '../../../packages/server/src/testing/records.ts';
import { Mutator } from './mutate.ts';
import { allowing, hold, type Surface, type Tally } from './surface.ts';

export function peerSurfaces(tally: Tally): Surface[] {
  return [messages(), answers(), frames(), handshakes(tally), sealedFrames(tally)];
}

const atZero = { nowMs: 0, wallMs: 0 };
const record = recordOf({ replicas: ['a:1', 'b:1'], sequence: 3 });
const { hi, lo, versionMs, versionTie, state, sequence, attempt } = record;
const progress = { versionMs, versionTie, state, sequence, attempt };
const standing = { hi, lo, ...progress };
const load = {
  popsPerSecond: 1,
  retriedPerSecond: 1,
  givenUpPerSecond: 1,
  latenessP50Ms: 0.5,
  latenessP99Ms: null,
  lagMs: 2,
};
const hello = {
  release: '1.0.0',
  protocolMin: 1,
  protocolMax: 2,
  viewId: 'v',
  boot: 7,
  historyMs: 1e6,
  leaving: false,
  full: false,
  moving: false,
  disk: 'whole' as const,
  wallMs: 1.7e12,
  timers: 5,
  primaries: 2,
  load,
  figures: { letters: 1, retrying: 2, answers: { '2xx': 3 } },
};
const ask = {
  namespace: 'n',
  tag: 't',
  state: '',
  cursor: '',
  limit: 9,
  holder: 'a',
  role: '',
  receiver: '',
  failure: '',
  tagPrefix: '',
} as const;

const someMessages: Message[] = [
  { type: 'store', mode: 'any', record },
  { type: 'claim', standing, termMs: 100, position: 1, calling: false, serial: 1, dueMs: 5 },
  { type: 'offer', standing, dueMs: 5000 },
  { type: 'read', hi, lo },
  { type: 'list', ask },
  { type: 'hello', hello },
  { type: 'digest', hashes: new Uint32Array(256) },
  { type: 'range', range: 9, standings: [standing, standing] },
  { type: 'unconfirmed', hi, lo, names: ['a', 'b'] },
  { type: 'attempts', namespace: 'n', hi, lo },
  { type: 'details', namespace: 'n', numbers: [{ hi, lo }] },
  {
    type: 'search',
    search: { ask, fromMs: 1, toMs: 2, after: { ms: 1, rank: 2, handle: 3 }, wantTotal: true },
  },
];
const outcome = {
  sequence: 1,
  attempt: 1,
  atMs: 1,
  latenessMs: 1,
  tookMs: 1,
  outcome: 1,
  detail: 'no',
};
const someAnswers: Answer[] = [
  { type: 'stored' },
  { type: 'have', progress },
  { type: 'refused', why: 'full' },
  { type: 'ahead', record },
  { type: 'claimed', leftMs: 5 },
  { type: 'record', record },
  { type: 'records', records: [record, record], stopped: 'ff' },
  { type: 'hello', hello },
  { type: 'ranges', ranges: [1, 2] },
  { type: 'difference', newer: [record], want: [{ hi, lo }] },
  { type: 'attempts', attempts: [outcome] },
  { type: 'details', details: [{ atMs: 1, text: 'no' }] },
];

function messages(): Surface {
  const corpus = [...someMessages.map((one) => [one]), someMessages].flatMap((items) =>
    [protocol.min, protocol.max].map((version) =>
      encodeMessages({ protocol: version, from: 'a:1', items }, atZero),
    ),
  );
  const mutator = new Mutator({ corpus });
  return {
    name: 'peer-messages',
    share: 14,
    make: (random) => mutator.make(random),
    // A message that was decoded can be encoded again.
    put: (input) =>
      allowing([MalformedError], () => encodeMessages(decodeMessages(input, atZero), atZero)),
  };
}

function answers(): Surface {
  const corpus = [...someAnswers.map((one) => [one]), someAnswers].flatMap((items) =>
    [protocol.min, protocol.max].map((version) =>
      encodeAnswers({ protocol: version, from: 'a:1', items }, atZero),
    ),
  );
  const mutator = new Mutator({ corpus });
  return {
    name: 'peer-answers',
    share: 8,
    make: (random) => mutator.make(random),
    put: (input) =>
      allowing([MalformedError], () => encodeAnswers(decodeAnswers(input, atZero), atZero)),
  };
}

const contentBytesMax = 4096;

function framed(contents: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    contents.flatMap((content, i) => {
      const head = Buffer.alloc(8);
      head.writeUInt32LE(content.length);
      head.writeUInt32LE(i, 4);
      return [head, content];
    }),
  );
}

function frames(): Surface {
  const content = (length: number): Uint8Array => Buffer.alloc(length, length);
  const lengths = [[0], [1, 2, 3], [100, 0, 7], [contentBytesMax], [contentBytesMax + 1]];
  const corpus = lengths.map((row) => framed(row.map(content)));
  const mutator = new Mutator({ corpus, bytesMax: 16_384 });
  return {
    name: 'peer-frames',
    share: 8,
    make: (random) => mutator.make(random),
    put: (input) =>
      allowing([MalformedError], () => {
        const reader = new FrameReader(contentBytesMax);
        let taken = 0;
        const take = (_: number, one: Uint8Array): boolean => {
          taken += one.length + 8;
          hold(one.length <= contentBytesMax, 'A frame is longer than is allowed.');
          return true;
        };
        const half = input.length >> 1;
        reader.push(input.subarray(0, half), take);
        reader.push(input.subarray(half), take);
        hold(taken <= input.length, 'Frames have more bytes than there were.');
      }),
  };
}

const options = (secrets: readonly string[]) => ({
  protocols: { min: 1, max: 2 },
  release: '1.0.0',
  secrets,
});
const nonceOf = (byte: number): Uint8Array => Buffer.alloc(nonceBytes, byte);

/** Handshakes of a stranger that recorded another member's and knows no secret. The listening end never agrees. */
function handshakes(tally: Tally): Surface {
  const dialer = new Handshake(options(['right']), 'dialer', nonceOf(1));
  const hellos = dialer.start() ?? new Uint8Array();
  const heard = new Handshake(options(['right']), 'acceptor', nonceOf(2));
  const [acceptorHello = new Uint8Array()] = heard.take(hellos);
  const [proof = new Uint8Array()] = dialer.take(acceptorHello);
  const wrong = new Handshake(options(['wrong']), 'dialer', nonceOf(3)).start() ?? hellos;
  const corpus = [[hellos, proof], [wrong, proof], [hellos], [hellos, acceptorHello], [proof]];
  const mutator = new Mutator({ corpus: corpus.map(framed) });
  return {
    name: 'peer-handshakes',
    share: 6,
    make: (random) => mutator.make(random),
    put: (input) =>
      allowing([MalformedError, RefusedPeerError], () => {
        // A nonce of its own for every connection, as always.
        const acceptor = new Handshake(options(['right']), 'acceptor', nonceOf(9));
        new FrameReader(256).push(input, (_, content) => {
          acceptor.take(content);
          if (acceptor.agreement !== null) tally.strangersLetIn++;
          hold(acceptor.agreement === null, 'A stranger is let in.');
          return true;
        });
      }),
  };
}

/** Frames behind a seal, changed on their way. */
function sealedFrames(tally: Tally): Surface {
  const key = new SeededRandom(1);
  const secret = Uint8Array.from({ length: 32 }, () => key.between(0, 255));
  const content = Buffer.from('a frame that a member made');
  const right = Buffer.concat([content, new Seal(secret).next(1, content)]);
  const mutator = new Mutator({ corpus: [right, right.subarray(0, 16), content] });
  return {
    name: 'peer-seals',
    share: 3,
    make: (random) => mutator.make(random),
    put: (input) =>
      allowing([RefusedPeerError], () => {
        new Seal(secret).open(1, input);
        if (!right.equals(input)) tally.strangersLetIn++;
        hold(right.equals(input), 'A frame that was changed is taken.');
      }),
  };
}
