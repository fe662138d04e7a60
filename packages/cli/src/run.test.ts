import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { commands } from './commands.ts';
import { release } from './index.ts';
import { run } from './run.ts';
import { runCommand as cli } from './testing/command-line.ts';
import { type Answer, type Asked, fakeMember, recordingIo } from './testing/world.ts';

const id = '0d1e1d1ab81140010000204080102040-2';
const located = { headers: { location: `/timers/${id}`, 'carillon-copies': '2/2' } };

describe('carillon', () => {
  test('without arguments tells the commands on the error side and exits 2', async () => {
    const { code, out, err } = await cli([]);
    expect(code).toBe(2);
    expect(out).toEqual([]);
    expect(err.join('\n')).toContain('Usage: npx carillon COMMAND');
  });

  test('--help lists every command', async () => {
    const { code, out } = await cli(['--help']);
    expect(code).toBe(0);
    for (const { name } of commands) expect(out.join('\n')).toContain(`  ${name} `);
  });

  test('--version is the version of the package', async () => {
    const { out } = await cli(['--version']);
    const manifest = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    ) as { version: string };
    expect(out).toEqual([manifest.version]);
  });

  test('a command that does not exist gets one sentence, with the nearest name', async () => {
    const { code, err } = await cli(['gte', id]);
    expect(code).toBe(2);
    expect(err).toEqual([
      'carillon: There is no command "gte"; npx carillon --help lists them. Did you mean "get"?',
    ]);
    expect((await cli(['--json'])).code).toBe(2);
  });

  test('a refusal of the cluster is told with the place, and exits 1', async () => {
    const problem = { detail: 'The interval is too long.', pointer: '/timing/interval' };
    const refuse = (): Answer => ({ status: 400, body: problem });
    const { code, err } = await cli(['set', '10s', 'http://r/'], refuse);
    expect(code).toBe(1);
    expect(err).toEqual([
      'The cluster refused (400): The interval is too long. (at /timing/interval)',
    ]);
    const asJson = await cli(['set', '10s', 'http://r/', '--json'], refuse);
    expect(JSON.parse(asJson.err[0] ?? '')).toMatchObject({ status: 400, problem });
  });

  test('a token that is missing or wrong: the sentence says how to show one', async () => {
    const refuse = (): Answer => ({ status: 401, body: { detail: 'A token is needed.' } });
    const { code, err } = await cli(['get', id], refuse);
    expect([code, err]).toEqual([
      1,
      [
        'The cluster refused (401): A token is needed. --token-file FILE or $CARILLON_TOKEN says which token to show.',
      ],
    ]);
  });

  test.each<[string[], string]>([
    [
      ['set', '1s', 'http://r/', '--opaqe', 'x'],
      'There is no flag --opaqe here. Did you mean --opaque?',
    ],
    [['serve', '--listn', 'x'], 'There is no flag --listn here. Did you mean --listen?'],
    [['serve', '--data-dir', 'x'], 'There is no flag --data-dir here. Did you mean --data?'],
    [['list', '--zzz'], 'There is no flag --zzz here. --help lists the flags.'],
    [['cluster', 'statuss'], 'There is no "statuss" here. Did you mean "status"?'],
    [['cluster'], 'Say what to do: status, members, drain NAME or resync [NAME].'],
    [['dead-letters', 'lst'], 'There is no "lst" here. Did you mean "list"?'],
    [
      ['dead-letters', 'eat'],
      'There is no "eat" here. Say what to do: list, summary, redeliver or discard.',
    ],
    [
      ['token', 'crate', '--tokens', '/tmp/none'],
      'There is no "crate" here. Did you mean "create"?',
    ],
    [['config', 'chek'], 'There is no "chek" here. Did you mean "check"?'],
    [
      ['set', '-5s', 'http://r/'],
      '"-5s" is negative; durations and numbers are positive here, such as 10s.',
    ],
    [
      ['set', 'http://r/', '--every', '-5s', '--count', '2'],
      '"-5s" is negative; durations and numbers are positive here, such as 10s.',
    ],
    [
      ['set', 'http://r/', '--at', '2027-02-30T00:00:00Z'],
      '--at has the day 2027-02-30, which does not exist.',
    ],
    [['list', '--from', '2027-02-30'], '--from has the day 2027-02-30, which does not exist.'],
    [['audit', '--since', '2027-02-30'], '--since has the day 2027-02-30, which does not exist.'],
  ])('%j: %s', async (args, sentence) => {
    const { code, err } = await cli(args);
    expect([code, err]).toEqual([2, [`carillon ${args[0]}: ${sentence}`]]);
  });

  test.each<[string[], RegExp]>([
    [['export', '/no/such/folder/x.ndjson'], /there is no file or folder \/no\/such\/folder\//i],
    [['token', 'list', '--tokens', '/'], /folder, not a file/],
    [['apply', '-f', '/no/such.yaml'], /\/no\/such\.yaml cannot be read: there is no file/],
    [
      ['serve', '--memory', '--name', 'a', '--members', '/no/such.yaml', '--log-level', 'silent'],
      /no file or folder \/no\/such\.yaml/,
    ],
    [['where', 'k', '--topology', '/no/such.yaml'], /no file or folder \/no\/such\.yaml/],
  ])('%j: a wrong file is wrong usage, told in plain words', async (args, sentence) => {
    const page = { body: { timers: [], cursor: null, missing: [], namespace: 'default' } };
    const { code, err } = await cli(args, () => page);
    expect(code).toBe(2);
    expect(err.join('\n')).toMatch(sentence);
    expect(err.join('\n')).not.toMatch(/E[A-Z]{4,}/);
  });

  test('when no member answers, the sentence names the tried ones and the way out', async () => {
    const io = recordingIo();
    const gone = await fakeMember(() => ({}));
    const { url } = gone;
    gone.close();
    expect(await run(['get', id, '--server', url], io, release)).toBe(1);
    expect(io.errLines).toEqual([
      `No member answered (${url}: connection refused). Is a member running there? --server names another.`,
    ]);
  });

  test('an interrupted command exits 130 without a word', async () => {
    const io = recordingIo({ CARILLON_SERVER: 'http://127.0.0.1:1' });
    io.abort();
    expect(await run(['get', id], io, release)).toBe(130);
    expect(io.errLines).toEqual([]);
  });
});

describe('every command', () => {
  test.each(commands.map((entry) => [entry.name, entry] as const))('%s', async (name, entry) => {
    const command = await entry.load();
    expect(command.name).toBe(name);
    // The list of commands shows the same line without loading anything.
    expect(command.summary).toBe(entry.summary);
    expect(command.usage).toContain(`carillon ${name}`);
    // `lock` gives the output of the command it runs, and nothing of its own.
    if (name !== 'lock') expect(command.usage).toContain('--json');
    expect(command.examples.length).toBeGreaterThan(0);
    const help = await cli([name, '--help']);
    expect(help.code).toBe(0);
    // These tests run the sources, as a clone does.
    expect(help.out.join('\n')).toContain(
      command.examples[0]?.replaceAll('carillon ', 'npx carillon '),
    );
    expect(help.out.join('\n')).not.toMatch(/(?<!npx )\bcarillon [a-z-]+ (?:--|[A-Z])/);
    const lines = help.out.flatMap((text) => text.split('\n'));
    expect(lines.filter(({ length }) => length > 120)).toEqual([]);
    expect((await cli(['help', name])).out).toEqual(help.out);
  });

  test.each(commands.map(({ name }) => name))(
    '%s refuses a flag it does not know',
    async (name) => {
      const { code, err, asked } = await cli([name, '--no-such-flag']);
      expect(code).toBe(2);
      expect(err).toHaveLength(1);
      expect(err[0]).toContain(`carillon ${name}: `);
      expect(asked).toEqual([]);
    },
  );
});

describe('carillon set', () => {
  test('sets a timer and prints its id', async () => {
    const args = [
      'set',
      '10s',
      'http://r/x',
      '--opaque',
      'order 17',
      '--tag',
      'a',
      '--tag',
      'b',
      '--factor',
      '3',
    ];
    const { code, out, err, asked } = await cli(args, () => located);
    expect([code, out, err]).toEqual([0, [id], []]);
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/timers' });
    expect(asked[0]?.body).toEqual({
      timing: { interval: 10 },
      callback: { http: { uri: 'http://r/x', opaque: 'order 17' } },
      reliability: { 'replication-factor': 3 },
      tags: ['a', 'b'],
    });
  });

  test.each<[string[], object]>([
    [['10s', 'http://r/', '--for', '1m'], { interval: 10, 'repeat-for': 60 }],
    [['10s', 'http://r/', '--every', '10s', '--for', '1m'], { interval: 10, 'repeat-for': 60 }],
    [['http://r/', '--every', '250ms', '--count', '4'], { interval: 0.25, count: 4 }],
    [['http://r/', '--every', '1d', '--forever'], { interval: 86_400, forever: true }],
    [['http://r/', '--at', '2030-01-31T09:00:00+01:00'], { at: '2030-01-31T08:00:00.000Z' }],
    [
      ['http://r/', '--cron', '0 9 * * *', '--timezone', 'Europe/Berlin', '--count', '5'],
      { cron: '0 9 * * *', timezone: 'Europe/Berlin', count: 5 },
    ],
  ])('%j means %j', async (args, timing) => {
    const { code, asked } = await cli(['set', ...args], () => located);
    expect(code).toBe(0);
    expect(asked[0]?.body).toMatchObject({ timing });
  });

  test('--retry-… say how a failed callback is tried again', async () => {
    const flags = ['--retry-limit', '1h', '--retry-base', '2s', '--retry-max-wait', '1m'];
    const args = ['set', '1s', 'http://r/', ...flags, '--retry-max-attempts', '7'];
    const { asked } = await cli(args, () => located);
    expect(asked[0]?.body).toMatchObject({
      callback: { retry: { limit: 3600, base: 2, 'max-wait': 60, 'max-attempts': 7 } },
    });
  });

  test('--opaque-file takes the body from a file, or from standard input', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'carillon-opaque-')), 'opaque');
    writeFileSync(file, '{"ö": 1}\n');
    const fromFile = await cli(['set', '1s', 'http://r/', '--opaque-file', file], () => located);
    expect(fromFile.asked[0]?.body).toMatchObject({ callback: { http: { opaque: '{"ö": 1}\n' } } });
    const args = ['set', '1s', 'http://r/', '--opaque-file', '-'];
    const { code, asked } = await cli(args, () => located, ['two ', 'parts']);
    expect(code).toBe(0);
    expect(asked[0]?.body).toMatchObject({ callback: { http: { opaque: 'two parts' } } });
  });

  test('--id replaces, --json gives copies, the token goes along', async () => {
    const args = ['set', '10s', 'http://r/', '--id', id, '--json', '--token', 't0ken'];
    const { out, asked } = await cli(args, () => located);
    expect(JSON.parse(out[0] ?? '')).toEqual({ id, copies: { have: 2, wanted: 2 } });
    expect(asked[0]).toMatchObject({ method: 'PUT', path: `/timers/${id}` });
    expect(asked[0]?.headers['authorization']).toBe('Bearer t0ken');
  });

  test('--server takes an address as `cluster members` prints it', async () => {
    const member = await fakeMember(() => located);
    const address = member.url.slice('http://'.length);
    expect(await run(['set', '1s', 'http://r/', '--server', address], recordingIo(), release)).toBe(
      0,
    );
    expect(member.asked).toHaveLength(1);
    member.close();
  });

  test('fewer copies than wanted are worth a word', async () => {
    const { code, err } = await cli(['set', '1s', 'http://r/'], () => ({
      headers: { ...located.headers, 'carillon-copies': '1/2' },
    }));
    expect([code, err]).toEqual([0, ['Only 1 of 2 members hold it so far.']]);
  });

  test.each<[string[], string]>([
    [[], 'Say when to call'],
    [['10s'], 'The URL to call is missing: name it last'],
    [['10', 'http://r/'], 'must be a duration such as'],
    [['10s', 'ftp://r/'], 'is not an http or https URL'],
    [['10s', 'http://r/', 'more'], 'Say when to call'],
    [['http://r/'], 'Say when: a duration'],
    [['10s', 'http://r/', '--at', '2030-01-01T00:00:00Z'], 'in one way only'],
    [
      ['10s', 'http://r/', '--every', '20s', '--for', '1m'],
      'The first pop comes after one interval',
    ],
    [['http://r/', '--every', '10s'], '--every needs an ending'],
    [['http://r/', '--cron', '* * * * *'], '--cron needs an ending'],
    [['10s', 'http://r/', '--for', '1m', '--count', '3'], 'one ending only'],
    [['http://r/', '--at', 'tomorrow'], '--at must be an instant'],
    [['http://r/', '--at', '2030-01-01T00:00:00Z', '--forever'], '--at is one pop'],
    [['10s', 'http://r/', '--factor', '17'], '--factor must be a whole number from 1 to 16'],
    [['10s', 'http://r/', '--header', 'nothing'], '--header must be such as'],
    [['10s', 'http://r/', '--opaque'], '--opaque needs a value'],
    [['10s', 'http://r/', '--opaque', 'x', '--opaque-file', '-'], 'not both'],
    [['10s', 'http://r/', '--retry-max-attempts', '0'], '--retry-max-attempts must be'],
    [['10s', 'http://r/', '--json=yes'], '--json takes no value'],
    [['10s', 'http://r/', '--server', 'nowhere'], 'must be a URL such as'],
  ])('%j is refused: %s', async (args, sentence) => {
    const { code, err, asked } = await cli(['set', ...args], () => located);
    expect(code).toBe(2);
    expect(err).toHaveLength(1);
    expect(err[0]).toContain(sentence);
    expect(asked).toEqual([]);
  });
});

describe('carillon get, list, cancel', () => {
  const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const timer = {
    id,
    state: 'pending',
    timing: { interval: 5 },
    callback: { http: { uri: 'http://r/', opaque: 'tab\there' } },
    reliability: { 'replication-factor': 2 },
    tags: ['x'],
    'next-due': new Date(nowMs + 95 * 60_000).toISOString(),
    sequence: 3,
    attempt: 0,
    'last-outcome': 200,
    replicas: ['n0', 'n1'],
  };

  const tried = {
    attempts: [
      {
        pop: 3,
        attempt: 2,
        at: '2026-01-02T03:04:00.000Z',
        'lateness-ms': 1500,
        'took-ms': 12.3,
        status: 503,
        member: 'n1',
      },
    ],
    missing: ['n2'],
  };

  test('get shows how the newest callbacks went, also of a timer that has ended', async () => {
    const script = ({ path }: Asked): Answer =>
      path.endsWith('/attempts') ? { body: tried } : { status: 404, body: {} };
    const { code, out, err } = await cli(['get', id], script);
    expect(code).toBe(1);
    expect(out.join('\n')).toMatch(
      /CALLED +POP +ATTEMPT +STATUS +LATENESS +TOOK +MEMBER +DETAIL\n2026-01-02T03:04:00.000Z +3 +2 +503 +1\.5s +12\.3ms +n1$/,
    );
    expect(err).toEqual([
      `No timer has the id ${id}.`,
      expect.stringMatching(/carillon history 0d1e1d1ab81140010000204080102040-2$/),
      'No answer from n2: attempts may be missing.',
    ]);
    const asJson = await cli(['get', id, '--json'], ({ path }) => ({
      body: path.endsWith('/attempts') ? tried : timer,
    }));
    expect(JSON.parse(asJson.out[0] ?? '')).toEqual({ ...timer, ...tried });
  });

  test('get shows a timer, with control characters made harmless', async () => {
    const { code, out } = await cli(['get', id], () => ({ body: { ...timer, attempts: [] } }));
    expect(code).toBe(0);
    const text = out.join('\n');
    expect(text).toMatch(/next pop .*\(in 1\.6h\)/);
    expect(text).toContain('tab·here');
    expect(text).toContain('n0, n1 (factor 2)');
  });

  test('get of an unknown timer exits 1', async () => {
    const { code, err } = await cli(['get', id], () => ({ status: 404, body: {} }));
    expect(code).toBe(1);
    expect(err).toEqual([`No timer has the id ${id}.`, expect.stringContaining('history')]);
  });

  test('get of a text that is no id says so', async () => {
    const sentence = expect.stringContaining('"zzz": This is not the id of a timer: it has 3');
    const text = await cli(['get', 'zzz'], () => ({ status: 404, body: {} }));
    expect([text.code, text.err]).toEqual([1, [sentence]]);
    const asJson = await cli(['get', 'zzz', '--json'], () => ({ status: 404, body: {} }));
    expect(JSON.parse(asJson.err[0] ?? '')).toEqual({ error: sentence });
  });

  test('list prints a table and passes the filters on', async () => {
    const page = { timers: [timer], cursor: null, missing: ['n2'] };
    const { code, out, err, asked } = await cli(
      ['list', '--tag', 'x', '--state', 'pending'],
      () => ({
        body: page,
      }),
    );
    expect(code).toBe(0);
    expect(out[0]).toMatch(/^ID +STATE +FAILED +LAST +NEXT +POPS +TAGS +CALLS$/);
    expect(out[1]).toMatch(new RegExp(`^${id} +pending +- +200 +in 1\\.6h +3 +x +http://r/$`));
    expect(err).toEqual(['No answer from n2: timers may be missing.']);
    expect(asked[0]?.path).toBe('/timers?tag=x&state=pending&limit=100');
  });

  test('list passes the member on; a role without a member is refused', async () => {
    const page = { timers: [timer], cursor: null, missing: [] };
    const args = ['list', '--member', 'n1', '--role', 'backup'];
    const { asked } = await cli(args, () => ({ body: page }));
    expect(asked[0]?.path).toBe('/timers?member=n1&role=backup&limit=100');
    const refused = await cli(['list', '--role', 'primary']);
    expect([refused.code, refused.err]).toEqual([
      2,
      ['carillon list: --role must be primary or backup, and goes with --member NAME.'],
    ]);
  });

  test('list stops at its limit and says that there is more', async () => {
    const page = { timers: [timer, timer], cursor: 'more', missing: [] };
    const { out, err, asked } = await cli(['list', '--limit', '3'], () => ({ body: page }));
    expect(out).toHaveLength(4);
    expect(err).toEqual(['The first 3; --all shows all, --limit N more.']);
    expect(asked).toHaveLength(2);
    const asJson = await cli(['list', '--limit', '3', '--json'], () => ({ body: page }));
    expect(asJson.out.map((line) => JSON.parse(line) as unknown)).toEqual([timer, timer, timer]);
  });

  test('an empty list is said on the error side', async () => {
    const { code, out, err } = await cli(['list'], () => ({ body: { timers: [], cursor: null } }));
    expect([code, out, err]).toEqual([0, [], ['No timers.']]);
  });

  test('cancel by id and by tag', async () => {
    const byId = await cli(['cancel', id, id], () => located);
    expect(byId.out).toEqual([`${id} cancelled.`, `${id} cancelled.`]);
    const byTag = await cli(['cancel', '--tag', 'x y'], () => ({ body: { cancelled: 7 } }));
    expect(byTag.out).toEqual(['7 cancelled.']);
    expect(byTag.asked[0]).toMatchObject({ method: 'DELETE', path: '/timers?tag=x+y' });
  });
});

describe('carillon completion', () => {
  test.each(['bash', 'zsh', 'fish'])('%s knows every command and its flags', async (shell) => {
    const { out } = await cli(['completion', shell]);
    const text = out.join('\n');
    for (const { name } of commands) expect(text).toContain(name);
    expect(text).toContain(shell === 'fish' ? '-l opaque' : '--opaque');
  });

  test('--json names the sub-commands and the values of flags that take one of a few', async () => {
    const { out } = await cli(['completion', '--json']);
    const words = JSON.parse(out[0] ?? '') as {
      name: string;
      subcommands: string[];
      values: object;
    }[];
    const of = (name: string) => words.find((one) => one.name === name);
    expect(of('cluster')?.subcommands).toEqual(['status', 'members', 'drain', 'resync']);
    expect(of('dead-letters')?.subcommands).toEqual(['list', 'summary', 'redeliver', 'discard']);
    expect(of('token')?.subcommands).toEqual(['create', 'list', 'revoke']);
    expect(of('config')?.subcommands).toEqual(['print', 'check']);
    expect(of('ring')?.subcommands).toEqual(['status']);
    expect(of('completion')?.subcommands).toEqual(['bash', 'zsh', 'fish']);
    expect(of('set')?.subcommands).toEqual([]);
    expect(of('list')?.values).toEqual({
      '--state': ['pending', 'retrying', 'failing', 'dead'],
      '--role': ['primary', 'backup'],
      '--order': ['due'],
    });
    expect(of('token')?.values).toEqual({ '--scope': ['read', 'write', 'admin'] });
    expect(of('serve')?.values).toMatchObject({
      '--log-level': ['debug', 'info', 'warn', 'error', 'silent'],
    });
  });

  test('bash completes commands, sub-commands, flags and values', async () => {
    const { out } = await cli(['completion', 'bash']);
    const complete = (...words: string[]): string[] => {
      const ask = `${out.join('\n')}
        COMP_WORDS=(carillon ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
        _carillon; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).trim().split('\n');
    };
    expect(complete('clu')).toEqual(['cluster']);
    expect(complete('cluster', 'dr')).toEqual(['drain']);
    expect(complete('cluster', 'drain', '--no')).toEqual(['--no-wait']);
    expect(complete('list', '--state', 're')).toEqual(['retrying']);
    expect(complete('token', 'create', '--scope', '')).toEqual(['read', 'write', 'admin']);
  });
});
