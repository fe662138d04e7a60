import { describe, expect, test } from 'vitest';
import { Members } from './members.ts';

const half = (): number => 0.5;

describe('Members', () => {
  test('equal addresses count once, trailing slashes and case do not matter', () => {
    expect(new Members(['http://A:1/', 'http://a:1', 'http://a:1/x/']).urls).toEqual([
      'http://a:1',
      'http://a:1/x',
    ]);
  });

  test.each(['?', '?a=b', '#', '#/timers'])(
    'an address with %j behind the slash is refused',
    (more) => {
      const sentence = 'The URL of a member has no user, query or fragment: say http://a:1 alone.';
      expect(() => new Members([`http://a:1/${more}`])).toThrow(new TypeError(sentence));
    },
  );

  test('an address with a user is refused, and the password is not told', () => {
    expect(() => new Members(['http://me:s3cret@a:1'])).toThrow(
      /^The URL [^3]+ http:\/\/a:1 alone/,
    );
  });

  test('the member that worked comes first, the member avoided longest comes last', () => {
    const members = new Members(['http://a:1', 'http://b:1', 'http://c:1', 'http://d:1']);
    members.worked('http://c:1');
    members.failed('http://a:1', 900);
    members.failed('http://b:1', 500);
    expect(members.order(100, half)).toEqual([
      'http://c:1',
      'http://d:1',
      'http://b:1',
      'http://a:1',
    ]);
    expect(members.order(900, half)[0]).toBe('http://c:1');
    expect(members.order(900, half).slice(1)).toEqual(['http://a:1', 'http://b:1', 'http://d:1']);
  });

  test('equally good members are asked in random order', () => {
    const members = new Members(['http://a:1', 'http://b:1']);
    const draws = [0.9, 0.1];
    expect(members.order(0, () => draws.shift() ?? 0)).toEqual(['http://b:1', 'http://a:1']);
  });

  test('discovered members come and go, configured ones stay, and an avoided member stays avoided', () => {
    const members = new Members(['http://a:1']);
    members.discovered(['b:1', 'c:1', 'b:1']);
    members.failed('http://b:1', 1000);
    members.discovered(['b:1']);
    expect(members.order(0, half)).toEqual(['http://a:1', 'http://b:1']);
    members.discovered([]);
    expect(members.urls).toEqual(['http://a:1']);
  });

  test.each([
    ['http://a:1', '0.0.0.0:7253'],
    ['http://a:1', '[::]:7253'],
    ['http://a:1', '127.0.0.1:7253'],
    ['http://a:1', 'localhost:1'],
    ['http://a:1', ''],
    ['http://a:1', 'user@evil:1'],
    ['http://a:1', 'evil:1/path'],
    ['http://a:1', 'no host:1'],
  ])('a client of %s does not take over %j', (configured, address) => {
    const members = new Members([configured]);
    members.discovered([address]);
    expect(members.urls).toEqual([configured]);
  });

  test('loopback members are taken over by a client on loopback, with the scheme it uses', () => {
    const members = new Members(['https://127.0.0.1:7253']);
    members.discovered(['127.0.0.1:7254']);
    expect(members.urls).toEqual(['https://127.0.0.1:7253', 'https://127.0.0.1:7254']);
  });
});
