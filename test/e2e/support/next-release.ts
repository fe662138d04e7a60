/**
 * The release after this one, for tests of upgrades: the sources copied, with another form of the data folder (an entry
 * of a new kind instead of marks) and another protocol (a byte more in each hello). It stands below the root, so that
 * packages of others resolve, and is bundled: from a new folder, a start from the sources takes two seconds of a
 * processor.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bundleCommand } from '../../../scripts/release/bundled-command.ts';

const root = join(import.meta.dirname, '../../..');
const packages = ['core', 'placement', 'ring', 'server', 'client', 'cli'];

/** [file, text, its replacement]; each text is found exactly once. */
type Change = readonly [file: string, from: string, to: string];

const server = 'packages/server/src';
const changes: readonly Change[] = [
  [`${server}/store/journal/files/form.ts`, 'before: 2', 'before: 3'],
  [`${server}/store/journal/files/form.ts`, 'newest: 3', 'newest: 4'],
  [`${server}/store/journal/files/segment.ts`, 'end: 4, rows: 5 }', 'end: 4, rows: 5, noted: 6 }'],
  [
    `${server}/store/journal/files/segment.ts`,
    'byte <= payloadKind.rows',
    'byte <= payloadKind.noted',
  ],
  [
    `${server}/store/journal/files/segment.ts`,
    'out.u16(header.form);',
    'out.u16(header.form); begun ||= header.form >= 4;',
  ],
  [
    `${server}/store/journal/files/segment.ts`,
    'export interface Header {',
    'let begun = false;\nexport interface Header {',
  ],
  [
    `${server}/store/journal/files/segment.ts`,
    'this.begin(payloadKind.mark);',
    'this.begin(begun ? payloadKind.noted : payloadKind.mark); if (begun) this.out.u8(17);',
  ],
  [
    `${server}/store/journal/files/segment.ts`,
    'else if (kind === payloadKind.mark)',
    'else if (kind === payloadKind.noted && from.u8() === 17) sink.mark(from.f64());\n  else if (kind === payloadKind.mark)',
  ],
  [`${server}/replication/wire/frame.ts`, 'min: 2, max: 7', 'min: 2, max: 8'],
  [
    `${server}/replication/wire/message.ts`,
    'return encodeHello(writer, message.hello, version);',
    'encodeHello(writer, message.hello, version); if (version >= 8) writer.u8(17); return;',
  ],
  [
    `${server}/replication/wire/message.ts`,
    "case 'hello':\n      return { type, hello: decodeHello(from, version) };\n    case 'digest'",
    "case 'hello': { const hello = decodeHello(from, version); if (version >= 8) from.u8(); return { type, hello }; }\n    case 'digest'",
  ],
];

export interface NextRelease {
  /** The file to run. */
  readonly program: string;
  remove(): void;
}

/** Two files need it: a run of all tests builds it once for both, and names its program in `NEXT_RELEASE`. */
export function buildNextRelease(): NextRelease {
  const built = process.env['NEXT_RELEASE'];
  if (built !== undefined) return { program: built, remove: () => undefined };
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache', 'next-release-'));
  mkdirSync(join(folder, 'node_modules/@carillon'), { recursive: true });
  for (const name of packages) {
    const to = join(folder, 'packages', name);
    cpSync(join(root, 'packages', name), to, { recursive: true, filter: isSource });
    symlinkSync(
      to,
      join(folder, 'node_modules', name === 'cli' ? 'carillon' : `@carillon/${name}`),
    );
  }
  // The settings of every package refer to it, and the bundler reads them.
  cpSync(join(root, 'tsconfig.base.json'), join(folder, 'tsconfig.base.json'));
  for (const change of changes) apply(folder, change);
  return {
    program: bundleCommand(join(folder, 'command'), 'clone', folder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function isSource(path: string): boolean {
  return !/\/(node_modules|dist)(\/|$)|\.tsbuildinfo$/.test(path.slice(root.length));
}

function apply(folder: string, [file, from, to]: Change): void {
  const path = join(folder, file);
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) {
    throw new Error(
      `${file} has "${from}" ${parts.length - 1} times; the test build needs it once.`,
    );
  }
  writeFileSync(path, parts.join(to));
}
