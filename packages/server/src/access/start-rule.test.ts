import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@carillon/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { configOf } from '../config/config.ts';
import { silentLog } from '../testing/one-member.ts';
import { testToken } from '../testing/tokens.ts';
import { QuotaTable } from '../quotas/quota-table.ts';
import { openAccess } from './open-access.ts';
import { checkStart, StartError } from './start-rule.ts';
import type { Token } from './token.ts';
import { renderTokens, TokensFileError } from './tokens-file.ts';

const nothing = { hasTokens: false, insecureNoAuth: false, tokensFile: '/data/tokens.json' };

describe('a member without tokens', () => {
  test.each(['127.0.0.1:7253', '127.30.53.11:1', '[::1]:7253', 'localhost:0'])(
    'starts at %s',
    (listen) => {
      expect(() => checkStart({ ...nothing, listens: [listen] })).not.toThrow();
    },
  );

  test.each([
    '0.0.0.0:7253',
    '[::]:7253',
    '10.0.0.1:7253',
    '[2001:db8::1]:7253',
    'timers.example:7253',
    '127.0.0.1.example:7253',
    '127.evil.example:7253',
    '[::ffff:10.0.0.1]:7253',
  ])('does not start at %s, and says the ways out', (listen) => {
    const start = () => checkStart({ ...nothing, listens: ['127.0.0.1:1', listen] });
    expect(start).toThrow(StartError);
    for (const way of [listen, 'carillon token create', '127.0.0.1', '--insecure-no-auth']) {
      expect(start).toThrow(way);
    }
  });

  test('starts anywhere when told to, and so does one with tokens', () => {
    const listens = ['0.0.0.0:7253'];
    expect(() => checkStart({ ...nothing, listens, insecureNoAuth: true })).not.toThrow();
    expect(() => checkStart({ ...nothing, listens, hasTokens: true })).not.toThrow();
  });
});

const numberKey = 'ab'.repeat(32);

function tokensText(tokens: readonly Token[], key: string | null = numberKey): string {
  return renderTokens({ tokens, numberKey: key });
}

describe('the tokens of a member', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-access-'));
  const file = join(folder, 'tokens.json');
  const first = testToken(1);
  const second = testToken(2);
  const closes: (() => void)[] = [];
  afterEach(() => {
    for (const close of closes.splice(0)) close();
    rmSync(file, { force: true });
  });

  async function open(options: Record<string, unknown> = {}, listen = '10.0.0.1:7253') {
    const errors: string[] = [];
    const warnings: string[] = [];
    const log = {
      ...silentLog,
      warn: (message: string) => warnings.push(message),
      error: (message: string, fields: object = {}) =>
        errors.push(`${message} ${JSON.stringify(fields)}`),
    };
    const config = configOf(new Map(Object.entries({ data: folder, ...options })));
    const clock = new VirtualClock();
    const quotas = new QuotaTable(config);
    const opened = await openAccess({ config, listens: [listen], quotas, clock, log });
    closes.push(() => opened.close());
    const may = ({ headers }: typeof first): boolean =>
      !(
        'error' in
        opened.access.admit(
          { method: 'GET', path: '/', query: '', headers, body: new Uint8Array(0) },
          { needs: 'admin' },
        )
      );
    return { ...opened, may, errors, warnings, clock };
  }

  test('come from the data folder, or from the file that is named', async () => {
    writeFileSync(file, tokensText([first.token]));
    expect((await open()).may(first)).toBe(true);
    const named = join(folder, 'shared.json');
    writeFileSync(named, tokensText([second.token]));
    const { may } = await open({ 'auth.tokens': named });
    expect([may(first), may(second)]).toEqual([false, true]);
  });

  test('are needed where others reach it: none, no file and a named file that is not there do not do', async () => {
    await expect(open()).rejects.toThrow(StartError);
    writeFileSync(file, tokensText([]));
    await expect(open()).rejects.toThrow(StartError);
    await expect(open({ 'auth.tokens': join(folder, 'none') }, '[::1]:1')).rejects.toThrow(
      /There is no tokens file .*none; carillon token create/,
    );
    writeFileSync(file, '{');
    await expect(open({ 'auth.insecureNoAuth': true })).rejects.toThrow(TokensFileError);
  });

  test('are asked for from the moment there are some', async () => {
    const { access, reload, may } = await open({}, '127.0.0.1:1');
    expect([access.needsToken, may(second)]).toEqual([false, true]);
    writeFileSync(file, tokensText([first.token]));
    await reload();
    expect([access.needsToken, may(first), may(second)]).toEqual([true, true, false]);
  });

  test('stay as they were, with a report, when the file is broken or gone; a good one is taken', async () => {
    writeFileSync(file, tokensText([first.token]));
    const { reload, may, errors } = await open();
    writeFileSync(file, `{"tokens": [{"id": "${second.text}"}]}`);
    await reload();
    rmSync(file);
    await reload();
    expect([may(first), may(second)]).toEqual([true, false]);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain('The tokens file cannot be used; everything stays as it was.');
    expect(errors.join()).not.toContain(second.text);
    writeFileSync(file, tokensText([second.token]));
    await reload();
    expect([may(first), may(second)]).toEqual([false, true]);
  });

  test('are read again by themselves when the file changes', async () => {
    writeFileSync(file, tokensText([first.token]));
    const { may, clock } = await open();
    writeFileSync(file, tokensText([first.token, second.token]));
    await expect.poll(() => clock.advance(1000).then(() => may(second))).toBe(true);
    const replaced = join(folder, 'new.json');
    writeFileSync(replaced, tokensText([second.token]));
    renameSync(replaced, file);
    await expect.poll(() => clock.advance(1000).then(() => may(first))).toBe(false);
  });

  describe('and the number key beside them', () => {
    const bound = testToken(3, { namespace: 'team-a' });

    test('is the same for every member with the same file', async () => {
      writeFileSync(file, tokensText([bound.token]));
      const [one, other] = [await open(), await open()];
      expect(one.warnings).toEqual([]);
      expect(one.numbering.fingerprint).toBeGreaterThan(0);
      expect(one.numbering.fingerprint).toBe(other.numbering.fingerprint);
      const number = { hi: 1, lo: 2 };
      expect(one.numbering.inside('team-a', number)).toEqual(
        other.numbering.inside('team-a', number),
      );
    });

    test('is missed with a warning where a token is for one namespace only', async () => {
      writeFileSync(file, tokensText([first.token], null));
      expect((await open()).warnings).toEqual([]);
      writeFileSync(file, tokensText([first.token, bound.token], null));
      const { warnings, numbering } = await open();
      expect(warnings).toEqual([expect.stringMatching(/has no "number-key".*docs\/security\.md/)]);
      expect(numbering.fingerprint).toBe(0);
    });

    test.each([
      ['another', 'cd'.repeat(32)],
      ['none', null],
    ])('stays: a file with %s is not taken, nor are its tokens', async (_, key) => {
      writeFileSync(file, tokensText([first.token]));
      const { reload, may, errors } = await open();
      writeFileSync(file, tokensText([second.token], key));
      await reload();
      expect([may(first), may(second)]).toEqual([true, false]);
      expect(errors).toEqual([expect.stringContaining('number-key')]);
      expect(errors.join()).not.toContain('cdcd');
      writeFileSync(file, tokensText([second.token]));
      await reload();
      expect([may(first), may(second)]).toEqual([false, true]);
    });

    test('that comes later is not used, and the tokens with it are at once', async () => {
      const { reload, may, warnings, errors } = await open({}, '127.0.0.1:1');
      writeFileSync(file, tokensText([first.token]));
      await reload();
      expect([may(first), may(second)]).toEqual([true, false]);
      expect(warnings).toEqual([expect.stringContaining('it is not used')]);
      expect(errors).toEqual([]);
      writeFileSync(file, tokensText([second.token]));
      await reload();
      expect([may(first), may(second)]).toEqual([false, true]);
    });
  });
});
