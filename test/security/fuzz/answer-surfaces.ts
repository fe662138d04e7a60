/** Bytes that come back to a member: answers of receivers to callbacks, and of etcd to its questions. */
import {
  decodeLease,
  decodeRange,
  decodeTxn,
  decodeWatch,
} from '../../../packages/ring/src/etcd/etcd-messages.ts';
import { ProtoWriter } from '../../../packages/ring/src/etcd/protobuf.ts';
import { GrpcFrames } from '../../../packages/ring/src/grpc-frames.ts';
import { answerCorpus } from '../differential/corpus.ts';
import { answerIn } from '../differential/ours.ts';
import { Mutator } from './mutate.ts';
import { allowing, hold, type Surface, type Verdict } from './surface.ts';

export function answerSurfaces(): Surface[] {
  return [receiverAnswers(), etcdFrames(), etcdMessages()];
}

/** Read whole and in two halves: where the bytes are cut makes no difference. */
function receiverAnswers(): Surface {
  const words = ['\r\n', '\n', ' ', '\t', ':', 'a: b\r\n', '0\r\n\r\n', '200', 'HTTP/1.1 ', '\0'];
  const lengths = [
    'content-length: 5\r\n',
    'transfer-encoding: chunked\r\n',
    'connection: close\r\n',
  ];
  const mutator = new Mutator({
    corpus: answerCorpus,
    words: [...words, ...lengths],
    bytesMax: 16_384,
  });
  return {
    name: 'receiver-answers',
    share: 12,
    make: (random) => mutator.make(random),
    put: (input): Verdict => {
      const bytes = Buffer.from(input);
      const half = bytes.length >> 1;
      const whole = answerIn([bytes], 'POST');
      const cut = answerIn([bytes.subarray(0, half), bytes.subarray(half)], 'POST');
      hold(whole.status === cut.status, `Cut, its status is ${cut.status}, whole ${whole.status}.`);
      return whole.progress === 'whole' ? 'taken' : 'refused';
    },
  };
}

const keyValue = (writer: ProtoWriter): ProtoWriter =>
  writer.string(1, '/carillon/members/a').int(2, 7).int(3, 9).int(4, 1).string(5, '{"name":"a"}');
const header = (writer: ProtoWriter): ProtoWriter => writer.int(3, 12).int(4, 2);

/** A range, a transaction, an event of a watch and a lease, as etcd sends them. */
const etcdCorpus: readonly Uint8Array[] = [
  new ProtoWriter().message(1, header).message(2, keyValue).message(2, keyValue).finish(),
  new ProtoWriter()
    .message(1, header)
    .bool(2, true)
    .message(3, (answer) => answer.message(1, (range) => range.message(2, keyValue)))
    .finish(),
  new ProtoWriter()
    .message(1, header)
    .bool(3, true)
    .message(11, (event) => event.message(2, keyValue))
    .finish(),
  new ProtoWriter().message(1, header).int(3, 10).finish(),
];

function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function etcdFrames(): Surface {
  const corpus = [...etcdCorpus.map(framed), Buffer.concat(etcdCorpus.map(framed))];
  const mutator = new Mutator({ corpus, bytesMax: 16_384 });
  return {
    name: 'etcd-frames',
    share: 4,
    make: (random) => mutator.make(random),
    put: (input) => {
      const frames = new GrpcFrames();
      let taken = 0;
      for (let at = 0; at < input.length; at += 7) {
        frames.push(input.subarray(at, at + 7));
        for (let one = frames.next(); one !== null; one = frames.next()) {
          if (one === 'unfit') return 'refused';
          taken += one.length + 5;
        }
      }
      hold(taken <= input.length, 'Messages have more bytes than there were.');
      return taken > 0 ? 'taken' : 'refused';
    },
  };
}

/** The client of etcd takes a RangeError for a broken answer. */
function etcdMessages(): Surface {
  const mutator = new Mutator({ corpus: etcdCorpus, bytesMax: 16_384 });
  return {
    name: 'etcd-messages',
    share: 8,
    make: (random) => mutator.make(random),
    put: (input) => {
      const verdicts = [decodeRange, decodeTxn, decodeWatch, decodeLease].map((decode) =>
        allowing([RangeError], () => decode(input)),
      );
      return verdicts.includes('taken') ? 'taken' : 'refused';
    },
  };
}
