import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { exampleAnswer, exampleProblem } from './examples.ts';
import { ProblemSchema } from '../schema/problem.ts';
import { TimerSchema } from '../schema/timer.ts';
import { testApi } from '../stand-in.contract.ts';

interface Operation {
  operationId: string;
  summary: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, { description: string }>;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: object;
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
  components: { schemas: Record<string, object> };
}

const verbs = ['get', 'put', 'post', 'delete'];

async function document(): Promise<Document> {
  const response = await testApi().ask('GET', '/openapi.json');
  expect(response.status).toBe(200);
  return JSON.parse(response.body) as Document;
}

test('the document has all parts that OpenAPI 3.1 requires', async () => {
  const { openapi, info, paths } = await document();
  expect(openapi).toMatch(/^3\.1\.\d$/);
  expect(info).toMatchObject({ title: 'Carillon', version: '0' });
  for (const [path, { parameters = [], ...item }] of Object.entries(paths)) {
    expect(path).toMatch(/^\//);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = parameters.filter((p) => p.in === 'path' && p.required === true);
    expect(inPath.map((p) => p.name)).toEqual(named);
    for (const [verb, operation] of Object.entries(item as Record<string, Operation>)) {
      expect(verbs).toContain(verb);
      expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(typeof response.description).toBe('string');
      }
      for (const parameter of operation.parameters ?? []) {
        expect(['query', 'header']).toContain(parameter.in);
        expect(typeof parameter.schema).toBe('object');
      }
    }
  }
});

test('every operation has a name of its own, for the functions of generated clients', async () => {
  const { paths, servers } = await document();
  const names = Object.values(paths).flatMap((item) => verbs.flatMap((verb) => item[verb] ?? []));
  expect(names.length).toBeGreaterThan(20);
  for (const { operationId } of names) expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
  expect(new Set(names.map(({ operationId }) => operationId)).size).toBe(names.length);
  expect(servers).toEqual([expect.objectContaining({ url: '/' })]);
});

test('answers that are shown as examples have the shapes that are described', () => {
  expect([...Compile(TimerSchema).Errors(exampleAnswer)]).toEqual([]);
  expect([...Compile(ProblemSchema).Errors(exampleProblem)]).toEqual([]);
});

test('every reference leads somewhere', async () => {
  const whole = await document();
  const refs = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  expect(refs.length).toBeGreaterThan(10);
  for (const [, name = ''] of refs) expect(Object.keys(whole.components.schemas)).toContain(name);
});

test('the document and the routes name the same paths and methods', async () => {
  const api = testApi();
  const { paths } = await document();
  const id = '00000019000000aa-2';
  for (const [path, item] of Object.entries(paths)) {
    const options = await api.ask('OPTIONS', path.replace('{id}', id));
    const allowed = (options.headers[1] ?? '').toLowerCase().split(', ');
    const described = Object.keys(item).filter((name) => verbs.includes(name));
    expect([path, described.toSorted()]).toEqual([
      path,
      allowed.filter((verb) => verbs.includes(verb)).toSorted(),
    ]);
  }
  const counted = new Set(
    [...api.metrics.render().matchAll(/route="[A-Z]+ ([^"]+)"/g)].map(([, p]) => p),
  );
  const known = new Set(Object.keys(paths).map((path) => path.replace('{id}', ':id')));
  expect(counted).toEqual(known);
});

test('a timer as it is answered has the shape that is described', async () => {
  const { ask } = testApi();
  const body = {
    timing: { interval: 1, count: 3 },
    callback: { http: { uri: 'http://receiver/', headers: { a: 'b' } }, retry: { limit: 5 } },
    tags: ['a'],
    statistics: { 'tag-info': [{ type: 'A', count: 1 }] },
  };
  const response = await ask('POST', '/timers', { body, headers: { accept: 'application/json' } });
  const validator = Compile(TimerSchema);
  expect(validator.Errors(JSON.parse(response.body))).toEqual([]);
});

test('bodies that are shown as examples are accepted as they stand', async () => {
  const { paths } = await document();
  const contents = Object.entries(paths).flatMap(([path, item]) =>
    verbs.flatMap((verb) => {
      const content = Object.values(item[verb]?.requestBody?.content ?? {})[0];
      return content === undefined ? [] : [{ verb, path, ...(content as { example?: object }) }];
    }),
  );
  expect(contents).toHaveLength(4);
  for (const { verb, path, example } of contents) {
    const target = path.replace('{id}', '00000019000000aa-2');
    const { status } = await testApi().ask(verb.toUpperCase(), target, { body: example });
    expect([path, status]).toEqual([path, 200]);
  }
});

test('every query parameter that is described is known to its route, and no other is', async () => {
  const { paths } = await document();
  const { ask } = testApi();
  let count = 0;
  for (const [path, item] of Object.entries(paths)) {
    for (const verb of verbs) {
      const names = (item[verb]?.parameters ?? []).filter((one) => one.in === 'query');
      const target = `${path.replace('{id}', '00000019000000aa-2')}?`;
      const askFor = async (name: string) =>
        (await ask(verb.toUpperCase(), `${target}${name}=`, { body: '{}' })).body;
      for (const { name } of names) {
        expect(await askFor(name)).not.toContain(`There is no parameter ${name} here.`);
      }
      if (names.length === 0) continue;
      expect(await askFor('other')).toContain('There is no parameter other here.');
      count++;
    }
  }
  expect(count).toBeGreaterThan(7);
});
