/**
 * A release rehearsed: all packages published to a registry on loopback, installed into an empty project with an empty
 * cache, and used from there, on every runtime that they promise. Packages of others come from the registry that npm is
 * configured with.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compileTargets } from '@carillon/placement';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildNextRelease } from '../test/e2e/support/next-release.ts';
import { buildPackages } from './release/build.ts';
import { EmptyProject, type Serving } from './release/rehearsal/empty-project.ts';
import { followGettingStarted } from './release/rehearsal/getting-started.ts';
import { schemasOutput, schemasProgram } from './release/rehearsal/schemas.ts';
import { leastRuntime, runtimeForTests, runtimes } from './runtimes.ts';

const root = join(import.meta.dirname, '..');
const programs = [
  { name: 'Node 24', kind: 'node', program: process.execPath },
  ...runtimes.map((one) => ({ name: one.name, kind: one.kind, program: runtimeForTests(one) })),
];
/** Members and locks need Node; client and placement do not. */
const wholeProduct = programs.filter(({ kind }) => kind === 'node');
/** Copied into the project. */
const files = [
  'examples/receiver-express.ts',
  'examples/receiver-fastify.ts',
  'examples/receiver-hono.ts',
  'examples/receiver-http.ts',
  'examples/receiver-next.ts',
  'examples/place-keys.ts',
  'examples/lock-fencing.ts',
  'scripts/release/rehearsal/portable.ts',
];
const ours = ['carillon', '@carillon/client', '@carillon/placement', '@carillon/ring'];

/** The compiler is the newest one that generators of types accept. */
const theirs = [
  'express@5',
  '@types/express@5',
  '@types/node@24',
  'fastify@5',
  'hono@4',
  'openapi-typescript@7.13.0',
  'typescript@5.9.3',
  'valibot@1',
  'zod@4',
];

let project: EmptyProject;
let member: Serving;
beforeAll(async () => {
  await buildPackages();
  project = await EmptyProject.create();
  await project.publish();
  await project.install(...ours, ...theirs);
  for (const file of files) project.write(basename(file), readFileSync(join(root, file), 'utf8'));
  project.write('schemas.ts', schemasProgram);
  member = await project.serve('npx', 'carillon');
  project.server = member.url;
});
afterAll(async () => {
  await member?.stop();
  project?.remove();
});

test('every package was published, and npx finds the command', async () => {
  expect(project.registry.names.toSorted()).toEqual([
    '@carillon/client',
    '@carillon/core',
    '@carillon/placement',
    '@carillon/ring',
    '@carillon/server',
    'carillon',
  ]);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(await project.run('npx', 'carillon', '--version')).toBe(`${version}\n`);
  expect(await (await fetch(`${member.url}/ping`)).text()).toBe('OK');
});

/** Types from /openapi.json, and a program that they fit. */
async function generateTypes(): Promise<void> {
  await project.run('npx', 'openapi-typescript', `${member.url}/openapi.json`, '-o', 'api.d.ts');
  const code = `import type { operations } from './api.js';
    type Body = operations['setTimer']['requestBody']['content']['application/json'];
    export const body: Body = { timing: { interval: 2 }, callback: { http: { uri: 'http://r/' } } };
    // @ts-expect-error -- an interval is a number
    export const wrong: Body = { ...body, timing: { interval: '2s' } };`;
  project.write('generated.ts', code);
}

// The compiler of the repository reads the types of all packages, which takes the one in the project 10 s.
test('the examples, with each adapter, and types that are generated from /openapi.json compile in a strict project with DOM types', async () => {
  await generateTypes();
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'NodeNext',
    target: 'ES2024',
    lib: ['ES2024', 'DOM', 'DOM.Iterable', 'ESNext.Disposable'],
    types: ['node'],
    allowImportingTsExtensions: true,
    skipLibCheck: false,
  };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  expect(await project.run(join(root, 'node_modules/.bin/tsc'), '-p', '.')).toBe('');
  expect(await project.run('npx', 'tsc', '-p', '.', '--skipLibCheck')).toBe('');
});

test('docs/getting-started.md, word for word: one member, an Express app, three members, a newer release', async () => {
  const next = buildNextRelease();
  try {
    const { lines } = await followGettingStarted(project, next.program);
    const transcript = process.env['TRANSCRIPT_FILE'];
    if (transcript !== undefined) writeFileSync(transcript, `${lines.join('\n')}\n`);
    expect(lines.filter((line) => line.startsWith('The trial of '))).toHaveLength(5);
  } finally {
    next.remove();
  }
});

test('schemas of zod and valibot check data at set and at the receiver', async () => {
  expect(await project.run(process.execPath, 'schemas.ts')).toBe(schemasOutput);
});

async function runsMember(program: string): Promise<void> {
  const started = await project.serve(program, 'node_modules/carillon/bin/carillon.js');
  expect(await (await fetch(`${started.url}/ping`)).text()).toBe('OK');
  expect(await started.stop()).toBe(0);
}

const least = runtimeForTests(leastRuntime);
test.skipIf(least === null)(
  `${leastRuntime.name}, the least that packages name, runs a member`,
  () => {
    const manifest = readFileSync(join(root, 'packages/cli/package.json'), 'utf8');
    expect(manifest).toContain(`">=${leastRuntime.version.slice(0, -2)}"`);
    return runsMember(least ?? '');
  },
);

describe.concurrent.each(wholeProduct)('$name', ({ program }) => {
  const runtime = program ?? '';

  test.skipIf(program === null)('runs a member', () => runsMember(runtime));

  test.skipIf(program === null)('runs an Express app that gets its timer', async () => {
    expect(await project.run(runtime, 'receiver-express.ts')).toBe('Express: pop 1 of order 17\n');
  });

  test.skipIf(program === null)('places keys and takes locks', async () => {
    expect(await project.run(runtime, 'place-keys.ts')).toMatch(/^customer\/ada: eu\/b\/db-3, /);
    expect(await project.run(runtime, 'lock-fencing.ts')).toMatch(/the store holds "from B"\n$/);
  });
});

/** Flags with which each runtime runs a file of the project. */
const running: Readonly<Record<string, readonly string[]>> = {
  node: [],
  bun: ['run'],
  deno: [
    'run',
    '--quiet',
    '--allow-net',
    '--allow-read',
    '--allow-env',
    '--node-modules-dir=manual',
  ],
};

describe.each(programs)('$name', ({ kind, program }) => {
  test.skipIf(program === null)('uses the client and places keys as all others do', async () => {
    const given = [...(running[kind] ?? []), 'portable.ts', member.url];
    const targets = compileTargets([{ name: 'a' }, { name: 'b', weight: 2 }, { name: 'c' }]);
    expect(JSON.parse(await project.run(program ?? '', ...given))).toEqual({
      state: 'pending',
      handled: ['order 17, pop 1'],
      statuses: [200, 200],
      ranked: targets.rank('customer/ada').map(({ name, score }) => `${name} ${score}`),
    });
  });
});
