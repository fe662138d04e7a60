/** The cost of one record on its way to a peer: the binary frames that members exchange, against the same as JSON. */
import { encodeDefinition, type TimerRecord } from '@carillon/core';
import {
  decodeMessages,
  encodeMessages,
  protocol,
} from '../../packages/server/src/replication/wire/frame.ts';
import type { Message } from '../../packages/server/src/replication/wire/message.ts';
import { definition } from './records.ts';

const recordsPerFrame = 100;
/** Of a whole run. */
const frameCountMax = 2000;
const atZero = { nowMs: 0, wallMs: 0 };
let frameCount = frameCountMax;

export async function run(report: (line: string) => void, share = 1) {
  frameCount = Math.round(frameCountMax * share);
  const items = Array.from({ length: recordsPerFrame }, (_, i) => store(i));
  const binary = measure(
    () => encodeMessages({ protocol: protocol.max, from: 'n0', items }, atZero),
    (bytes) => decodeMessages(bytes, atZero).items.length,
  );
  const json = measure(
    () => Buffer.from(JSON.stringify({ from: 'n0', items: items.map(plain) })),
    (bytes) => parsed(bytes),
  );
  report(`wire: binary ${shown(binary)}`);
  report(`wire: JSON ${shown(json)}`);
  const ratio = json.micros / binary.micros;
  report(
    `wire: JSON costs ${ratio.toFixed(1)} × the CPU and ${(json.bytes / binary.bytes).toFixed(1)} × the bytes`,
  );
  return { binary, json, ratio };
}

interface Measured {
  readonly micros: number;
  readonly bytes: number;
}

/** CPU of writing and reading one record; the first tenth warms up. */
function measure(encode: () => Uint8Array, decode: (bytes: Uint8Array) => number): Measured {
  let bytes = new Uint8Array(0);
  let before = process.cpuUsage();
  for (let i = 0; i < frameCount * 1.1; i++) {
    if (i === frameCount / 10) before = process.cpuUsage();
    bytes = Uint8Array.from(encode());
    if (decode(bytes) !== recordsPerFrame) throw new Error('A frame lost records.');
  }
  const { user, system } = process.cpuUsage(before);
  return {
    micros: (user + system) / (frameCount * recordsPerFrame),
    bytes: bytes.length / recordsPerFrame,
  };
}

function store(i: number): Extract<Message, { type: 'store' }> {
  const ending = { repeatForMs: 300_000, untilMs: null, count: null, forever: false };
  const record: TimerRecord = {
    hi: 0x19a80000 + i,
    lo: 0x7c401000 + i,
    namespace: 'default',
    factor: 2,
    versionMs: 1_790_000_000_000 + i,
    versionTie: i,
    state: 0,
    sequence: 3,
    attempt: 0,
    startMs: 1234.5,
    dueMs: 31_234.5,
    gapMs: 30_000,
    retryMs: 31_234.5,
    triedMs: 31_234.5,
    outcome: 200,
    replicas: ['10.0.0.11:7353', '10.0.0.12:7353'],
    body: encodeDefinition({
      ...definition,
      timing: { kind: 'interval', intervalMs: 30_000, ending },
      uri: 'http://10.0.1.7:8080/timers/pop',
    }),
  };
  return { type: 'store', mode: 'any', record };
}

/** JSON has no bytes: the definition goes as base64, which is cheaper than taking it apart. */
function plain({ record, ...message }: Extract<Message, { type: 'store' }>): unknown {
  return { ...message, record: { ...record, body: Buffer.from(record.body).toString('base64') } };
}

function parsed(bytes: Uint8Array): number {
  const frame = JSON.parse(Buffer.from(bytes).toString()) as {
    items: { record: { body: string } }[];
  };
  for (const { record } of frame.items) Buffer.from(record.body, 'base64');
  return frame.items.length;
}

function shown({ micros, bytes }: Measured): string {
  return `${micros.toFixed(2)} µs to write and read one record, ${bytes.toFixed(0)} bytes`;
}
