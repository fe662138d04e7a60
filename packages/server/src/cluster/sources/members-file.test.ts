import { expect, it } from 'vitest';
import { MembersFileError, parseMembers } from './members-file.ts';

const n0 = { name: 'n0', address: '127.0.0.11:7253', peer: '127.0.0.11:7353' };

it('reads JSON, with defaults for absent fields', () => {
  expect(parseMembers(JSON.stringify({ members: [n0] }))).toEqual([
    { ...n0, phase: 'active', weight: 1, labels: {} },
  ]);
});

it('reads YAML', () => {
  const text = `
members:
  - name: n0
    address: 127.0.0.11:7253
    peer: "[::1]:7353"
    phase: leaving
    weight: 0.5
    labels: { zone: a }
`;
  expect(parseMembers(text)).toEqual([
    { ...n0, peer: '[::1]:7353', phase: 'leaving', weight: 0.5, labels: { zone: 'a' } },
  ]);
});

const n1 = { name: 'n1', address: '127.0.0.12:7253', peer: '127.0.0.12:7353' };

it.each([
  ['', 'a list "members"'],
  ['{', 'neither JSON nor YAML'],
  ['[]', 'a list "members"'],
  ['{"members":{}}', 'a list "members"'],
  ['{"members":[]}', '1 to 1000'],
  ['{"members":[1]}', 'members[0] must be an object'],
  [{ ...n0, name: '' }, 'members[0].name'],
  [{ ...n0, name: 7 }, 'members[0].name'],
  [{ ...n0, address: 'nowhere' }, 'members[0].address must be a text: host:port'],
  [{ ...n0, peer: undefined }, 'members[0].peer'],
  [{ ...n0, phase: 'asleep' }, 'members[0].phase must be one of joining, active, leaving'],
  [{ ...n0, weight: -1 }, 'members[0].weight'],
  [{ ...n0, weight: 1e-9 }, 'members[0].weight'],
  [{ ...n0, labels: { zone: 1 } }, 'members[0].labels'],
  [{ ...n0, wieght: 0 }, 'members[0] has no field "wieght"; did you mean "weight"?'],
  [
    { ...n0, zone: 'a' },
    'no field "zone"; it may have name, address, peer, phase, weight, labels.',
  ],
  [
    `{"members":[${JSON.stringify(n0)}],"member":[]}`,
    'The file has no field "member"; did you mean',
  ],
])('says what is wrong with %j', (file, expected) => {
  const text = typeof file === 'string' ? file : JSON.stringify({ members: [file] });
  expect(() => parseMembers(text)).toThrow(MembersFileError);
  expect(() => parseMembers(text)).toThrow(expected);
});

it.each(['name', 'address', 'peer'] as const)('refuses two members with one %s', (key) => {
  const text = JSON.stringify({ members: [n0, { ...n1, [key]: n0[key] }] });
  expect(() => parseMembers(text)).toThrow(`The ${key} "${n0[key]}" appears twice`);
});
