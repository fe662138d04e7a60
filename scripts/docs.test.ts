/** The examples of the documents work: their request bodies are accepted, their commands exist. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openApi } from '../packages/server/src/api/openapi/openapi.ts';
import { TimerParser } from '../packages/server/src/api/parse-timer.ts';
import { defaultConfig } from '../packages/server/src/config/config.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
/** A page with each item of a list in one line. */
const unwrapped = (path: string): string => read(path).replaceAll(/\n +(?=[^ -])/g, ' ');
const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md', 'bench/*.md'], {
  cwd: root,
});

/** Bodies of timers in code blocks: whole blocks of JSON, and the text behind `-d` in shell commands. */
function bodiesIn(text: string): string[] {
  const blocks = [...text.matchAll(/```(json|sh)\n(.*?)```/gs)];
  return blocks.flatMap(([, kind, block = '']) => {
    if (kind === 'sh') return [...block.matchAll(/-d '([^']*)'/g)].map(([, body = '']) => body);
    return /"timing"/.test(block) && !/"id"/.test(block) ? [block] : [];
  });
}

const examples = pages.flatMap((page) => bodiesIn(read(page)).map((body) => ({ page, body })));

test('the documents do show timers', () => {
  expect(examples.length).toBeGreaterThan(2);
});

test.each(examples)('$page: $body is accepted', ({ body }) => {
  const parser = new TimerParser(defaultConfig);
  const options = { wallMs: 0, factor: null, idempotent: false, strict: true, trace: null };
  expect(parser.parse(JSON.parse(body), options).definition.uri).toMatch(/^http/);
});

describe('commands', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/npm run (?:-s )?([a-z:-]+)(?: -w ([\w/]+))?/g)].map(
      ([, name = '', workspace = '.']) => ({ page, name, workspace }),
    ),
  );

  test.each(named)('$page: npm run $name exists in $workspace', ({ name, workspace }) => {
    const manifest = JSON.parse(read(join(workspace, 'package.json'))) as { scripts: object };
    expect(Object.keys(manifest.scripts)).toContain(name);
  });
});

test('docs/http-api.md names every request that /openapi.json describes', () => {
  const page = read('docs/http-api.md');
  const { paths } = openApi('0', []) as { paths: Record<string, Record<string, unknown>> };
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((name) => name !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path.replace('{id}', '<id>')}`),
  );
  expect(requests.length).toBeGreaterThan(10);
  expect(requests.filter((request) => !page.includes(`\`${request}`))).toEqual([]);
});

describe('promises', () => {
  const page = unwrapped('docs/promises.md');
  const named = [...page.matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));

  test('each of the nine has its section, with at least one test', () => {
    const sections = page.split(/^## /m).filter((section) => /^P\d/.test(section));
    expect(sections.map((section) => section.slice(0, 2)).join(' ')).toBe(
      'P1 P2 P3 P4 P5 P6 P7 P8 P9',
    );
    expect(sections.filter((section) => !/^- `/m.test(section))).toEqual([]);
  });

  test.each(named)('$file has the test: $name', ({ file, name }) => {
    expect(read(file)).toContain(name);
  });
});

describe('the original notes', () => {
  const page = unwrapped('docs/original-notes.md');
  const named = [...page.matchAll(/^ {2}- `([^`]+)`: (.+)$/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));

  test('every sentence that holds names at least one test', () => {
    const [whole = ''] = page.split('## Sentences that hold in part');
    const sentences = whole.split(/^(?=- \*\*)/m).slice(1);
    expect(sentences.length).toBeGreaterThan(30);
    expect(sentences.filter((sentence) => !/^ {2}- `/m.test(sentence))).toEqual([]);
  });

  test.each(named)('$file has the test: $name', ({ file, name }) => {
    expect(read(file)).toContain(name);
  });
});

describe('the threat model', () => {
  const page = unwrapped('docs/threat-model.md');
  const named = [...page.matchAll(/^ {2}- `([^`]+)`: (.+)$/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));

  test('has every kind of attacker, and a test for each attempt', () => {
    const sections = page.split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n')[0])).toEqual([
      'A stranger',
      'A tenant',
      'A receiver',
      'A peer',
      'A web page',
      'A mistake of the operator',
    ]);
    const attempts = sections.flatMap((section) => section.split(/^(?=- \*\*)/m).slice(1));
    expect(attempts.length).toBeGreaterThan(15);
    expect(attempts.filter((attempt) => !/^ {2}- `/m.test(attempt))).toEqual([]);
  });

  test.each(named)('$file has the test: $name', ({ file, name }) => {
    expect(read(file)).toContain(name);
  });

  test('is found from where people look for it', () => {
    expect(read('README.md')).toContain('(docs/threat-model.md)');
    expect(read('docs/security.md')).toContain('(threat-model.md)');
  });
});
