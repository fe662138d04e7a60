import { expect, test } from 'vitest';
import { curlOf, type Document, fieldsOf, groupsOf, kindOf, search } from './openapi.ts';

const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const ok = { '200': { description: 'OK' } };
const document: Document = {
  info: { title: 'Carillon', version: '1', description: 'Timers.' },
  paths: {
    '/timers': {
      post: {
        summary: 'Set a timer',
        security: [{ token: ['write'] }],
        requestBody: {
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/TimerBody' },
              example: { timing: { interval: 2 } },
            },
          },
        },
        responses: {
          '200': {
            description: 'Set',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/TimerBody' } } },
          },
          '503': { description: 'Busy' },
        },
      },
      delete: {
        summary: 'Cancel all timers with a tag',
        security: [{ token: ['write'] }],
        parameters: [{ name: 'tag', in: 'query', required: true, schema: { type: 'string' } }],
        responses: ok,
      },
    },
    '/timers/{id}': { parameters: [id], get: { summary: 'Read a timer', responses: ok } },
    '/ping': { get: { summary: 'Answers OK', security: [], responses: ok } },
  },
  components: {
    schemas: {
      TimerBody: {
        type: 'object',
        required: ['timing'],
        properties: {
          timing: { type: 'object', properties: { interval: { type: 'number', minimum: 0 } } },
          tags: { type: 'array', items: { type: 'string', maxLength: 9 } },
          outcome: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        },
      },
    },
  },
};
const groups = groupsOf(document);
const [set, cancel, read, ping] = groups.flatMap(({ operations }) => operations);

test('operations are grouped by their resource, in the order of the document', () => {
  expect(groups.map(({ title }) => title)).toEqual(['Timers', 'The member itself']);
  expect([set, cancel, read, ping].map((operation) => operation?.anchor)).toEqual([
    'post-timers',
    'delete-timers',
    'get-timers-id',
    'get-ping',
  ]);
  expect([set?.needs, ping?.needs]).toEqual(['write', null]);
  expect(read?.parameters).toEqual([id]);
  expect(set?.answers.map(({ status, schema }) => [status, schema === null])).toEqual([
    ['200', false],
    ['503', true],
  ]);
});

test('a search finds operations with all its words; groups without any are left out', () => {
  const found = (text: string) => search(groups, text).flatMap((group) => group.operations);
  expect(found('')).toHaveLength(4);
  expect(found('TAG cancel')).toEqual([cancel]);
  expect(search(groups, 'ping').map(({ title }) => title)).toEqual(['The member itself']);
  expect(found('nothing like it')).toEqual([]);
});

test('a request to copy names the values to fill in, and carries a token where one is asked for', () => {
  if (set === undefined || cancel === undefined || read === undefined || ping === undefined)
    throw new Error('There are four operations.');
  expect(curlOf(set, 'http://m', false)).toBe(
    `curl 'http://m/timers' \\\n  -d '{"timing":{"interval":2}}'`,
  );
  expect(curlOf(cancel, 'http://m', true)).toBe(
    `curl -X DELETE 'http://m/timers?tag=TAG' \\\n  -H "Authorization: Bearer $CARILLON_TOKEN"`,
  );
  expect(curlOf(read, 'http://m', false)).toBe(`curl 'http://m/timers/ID'`);
  expect(curlOf(ping, 'http://m', true)).toBe(`curl 'http://m/ping'`);
});

test('kinds are told in words, and members of an object with whether they are required', () => {
  const { schemas } = document.components;
  const fields = fieldsOf({ $ref: '#/components/schemas/TimerBody' }, schemas);
  expect(fields.map(({ name, schema, required }) => [name, kindOf(schema), required])).toEqual([
    ['timing', 'object', true],
    ['tags', 'array of string, at most 9 characters', false],
    ['outcome', 'integer or null', false],
  ]);
  expect(kindOf({ enum: ['a', 1] })).toBe('"a", 1');
  expect(kindOf({ type: 'array', items: { $ref: '#/components/schemas/TimerBody' } })).toBe(
    'array of TimerBody',
  );
});
