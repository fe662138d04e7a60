/**
 * The disk of a member: segments and snapshots that were damaged, some with checksums that fit all the same. The
 * member starts with the intact entries, or refuses with a sentence.
 */
import { ByteReader, MalformedError } from '@carillon/core';
import { MemoryDisk, type SeededRandom } from '@carillon/core/testing';
import { checksum } from '../../../packages/server/src/store/journal/files/checksum.ts';
import {
  contentsName,
  encodeContents,
} from '../../../packages/server/src/store/journal/files/contents.ts';
import { forms } from '../../../packages/server/src/store/journal/files/form.ts';
import {
  recover,
  type Recovered,
  RecoveryError,
} from '../../../packages/server/src/store/journal/recovery.ts';
import {
  decodePayload,
  encodeHeader,
  EntryWriter,
  type FileKind,
  fileName,
} from '../../../packages/server/src/store/journal/files/segment.ts';
import { Store } from '../../../packages/server/src/store/store.ts';
import { identity, recordOf } from '../../../packages/server/src/store/testing/journal-world.ts';
import { Mutator } from './mutate.ts';
import { allowing, hold, type Surface, type Verdict } from './surface.ts';

const salt = 77;
const headBytes = 8;
const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

export function diskSurfaces(): Surface[] {
  return [
    files('journal', 'journal-files'),
    files('snapshot', 'snapshot-files'),
    contentsFiles(),
    rowBlocks(),
    entries(),
  ];
}

function headerOf(kind: FileKind): Buffer {
  return Buffer.from(encodeHeader({ form: forms.newest, kind, number: 1, salt, identity }));
}

/** Entries with their checksums. */
function body(kind: FileKind, records: number): Buffer {
  const out = new EntryWriter();
  out.mark(1234);
  for (let i = 0; i < records; i++) out.put(recordOf(i, i), 0);
  if (kind === 'snapshot') out.end(records);
  else if (records > 1) out.drop(7, 1);
  return Buffer.from(out.seal(salt));
}

/**
 * The file of that kind holds the input; beside it stand the files that recovery needs: a segment, and a table that
 * notes neither.
 */
function diskWith(kind: FileKind, input: Uint8Array): Promise<MemoryDisk> {
  const contents = encodeContents({ snapshot: null, segments: [], lost: null }, identity);
  const segment = kind === 'snapshot' ? { [fileName('journal', 1)]: headerOf('journal') } : {};
  return diskOf({ [fileName(kind, 1)]: input, ...segment, [contentsName]: contents });
}

async function diskOf(named: Readonly<Record<string, Uint8Array>>): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  for (const [name, bytes] of Object.entries(named)) {
    await (await disk.create(name)).append(bytes);
  }
  return disk;
}

/** Starts with this disk. `input`: the bytes that may be wrong. */
async function started(disk: MemoryDisk, input: Uint8Array): Promise<Verdict> {
  let put = 0;
  // Made for the first rows: most inputs have none.
  const rows: { store: Store | null } = { store: null };
  const replay = {
    put: () => put++,
    drop: () => {},
    rows: (bytes: Uint8Array, baseMs: number) => {
      rows.store ??= new Store();
      const taken = rows.store.restoreRows(bytes, baseMs, ({ dueMs }) => dueMs);
      put += taken;
      return taken;
    },
    rowsEnd: () => rows.store?.endRestore(() => put--),
  };
  const given = { disk, log: silentLog, identity, baseMs: 0, replay };
  const verdict = await recover(given).then(taken, refusedBy);
  hold(put * 20 <= input.length, 'More records are found than fit into the file.');
  if (rows.store !== null) useAll(rows.store);
  return verdict;
}

/** Records that were taken as rows can be read, changed and removed. */
function useAll(store: Store): void {
  const next = store.records();
  for (let record = next(); record !== undefined; record = next()) {
    const { hi, lo } = record;
    store.put({ ...record, sequence: 1, body: record.body.slice(1) });
    hold(store.get(hi, lo)?.sequence === 1, 'A row from disk is not found.');
    if (lo % 2 === 0) store.remove(hi, lo);
  }
}

/** Blocks of rows as a snapshot has them: of plain records, and of others with attempts. */
function blocksOf(records: number): Uint8Array[] {
  const store = new Store();
  for (let i = 0; i < records; i++) {
    store.put({ ...recordOf(i, i), attempt: i % 3, retryMs: 70_000 + i, outcome: i * 100 });
  }
  const blocks: Uint8Array[] = [];
  store.rowBlocks()(0, records + 1, (bytes) => blocks.push(bytes.slice()));
  return blocks;
}

/** Blocks of rows behind a checksum that fits. */
function rowBlocks(): Surface {
  const mutator = new Mutator({ corpus: [4, 12].flatMap(blocksOf), bytesMax: 8192 });
  return {
    name: 'snapshot-rows',
    share: 3,
    make: (random) => mutator.make(random),
    put: async (input) => {
      const out = new EntryWriter();
      out.rows(input, 1);
      out.end(1);
      const file = Buffer.concat([headerOf('snapshot'), out.seal(salt)]);
      return started(await diskWith('snapshot', file), file);
    },
  };
}

function files(kind: FileKind, name: string): Surface {
  const corpus = [0, 1, 3, 8].map((records) =>
    Buffer.concat([headerOf(kind), body(kind, records)]),
  );
  const mutator = new Mutator({ corpus, bytesMax: 8192 });
  return {
    name,
    share: 4,
    make: (random) => mutator.make(random),
    put: async (input) => started(await diskWith(kind, input), input),
  };
}

/** Tables of contents beside a snapshot and a segment; half of them have a checksum that fits. */
function contentsFiles(): Surface {
  const snapshot = Buffer.concat([headerOf('snapshot'), body('snapshot', 2)]);
  const segment = Buffer.concat([headerOf('journal'), body('journal', 3)]);
  const filed = { number: 1, salt, bytes: segment.length, entries: 5 };
  const inSnapshot = { number: 1, salt, bytes: snapshot.length, entries: 4 };
  const corpus = [
    encodeContents({ snapshot: null, segments: [filed], lost: null }, identity),
    encodeContents({ snapshot: inSnapshot, segments: [filed], lost: null }, identity),
    encodeContents(
      { snapshot: null, segments: [filed, filed], lost: { entries: 3, more: true } },
      identity,
    ),
  ];
  const mutator = new Mutator({ corpus, bytesMax: 4096 });
  const others = { [fileName('snapshot', 1)]: snapshot, [fileName('journal', 1)]: segment };
  return {
    name: 'contents-files',
    share: 4,
    make: (random) => {
      const made = Buffer.from(mutator.make(random));
      const end = made.length - 4;
      if (end >= 0 && random.u32() % 2 === 0) made.writeUInt32LE(checksum(made, 0, end, 0), end);
      return made;
    },
    put: async (input) =>
      started(
        await diskOf({ ...others, [contentsName]: input }),
        Buffer.concat([snapshot, segment]),
      ),
  };
}

/** Files that recovery names as damaged count as refused: they are not used. */
const taken = ({ damaged, lost }: Recovered): Verdict =>
  damaged.length === 0 && lost === null ? 'taken' : 'refused';

function refusedBy(error: unknown): Verdict {
  if (error instanceof RecoveryError) return 'refused';
  throw error;
}

/** Payloads of journal entries behind a checksum that fits. */
function entries(): Surface {
  const payloads = payloadsOf(body('journal', 3));
  const mutator = new Mutator({ corpus: payloads, bytesMax: 8192 });
  const sink = { put: () => {}, drop: () => {}, mark: () => {}, end: () => {}, rows: () => {} };
  return {
    name: 'journal-entries',
    share: 6,
    make: (random: SeededRandom) => mutator.make(random),
    put: (input) => allowing([MalformedError], () => decodePayload(new ByteReader(input), 0, sink)),
  };
}

function payloadsOf(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + headBytes + bytes.readUInt32LE(at + 4);
    hold(checksum(bytes, at + 4, end, salt) === bytes.readUInt32LE(at), 'The corpus is wrong.');
    found.push(bytes.subarray(at + headBytes, end));
    at = end;
  }
  return found;
}
