import { describe, expect, it } from 'vitest';
import { type Endpoint, Guard, type GuardOptions, parseAllow } from './guard.ts';

function guard(change: Partial<GuardOptions> = {}): Guard {
  const denied: readonly Endpoint[] = [];
  return new Guard({
    allow: [],
    loopback: false,
    denied: () => denied,
    machine: () => ['192.168.1.5', '2a00::5'],
    ...change,
  });
}

describe('Guard: addresses outside the public internet', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.127.255.254', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.0.1', 'link-local'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.8', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['192.31.196.1', 'reserved'],
    ['192.52.193.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.168.0.1', 'private'],
    ['192.175.48.1', 'reserved'],
    ['198.18.0.1', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved or broadcast'],
    ['255.255.255.255', 'reserved or broadcast'],
    ['::', 'not a global IPv6 address'],
    ['::1', 'not a global IPv6 address'],
    ['::127.0.0.1', 'not a global IPv6 address'],
    ['::8.8.8.8', 'not a global IPv6 address'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:0:127.0.0.1', 'not a global IPv6 address'],
    ['64:ff9b::127.0.0.1', 'loopback'],
    ['64:ff9b::a00:1', 'private'],
    ['64:ff9b:1::1', 'not a global IPv6 address'],
    ['100::1', 'not a global IPv6 address'],
    ['2001::1', 'Teredo'],
    ['2001:2::1', 'benchmarking'],
    ['2001:20::1', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['2002:808:808::', '6to4'],
    ['2620:4f:8000::1', 'reserved'],
    ['3fff::1', 'documentation'],
    ['3fff:fff::1', 'documentation'],
    ['5f00::1', 'not a global IPv6 address'],
    ['fc00::1', 'not a global IPv6 address'],
    ['fd12::1', 'not a global IPv6 address'],
    ['fe80::1', 'not a global IPv6 address'],
    ['fe80::1%eth0', 'not a global IPv6 address'],
    ['fec0::1', 'not a global IPv6 address'],
    ['ff02::1', 'not a global IPv6 address'],
  ])('%s is refused as %s', (address, kind) => expect(guard().judge(address, 80)).toContain(kind));

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2001:200::1',
    '2003::1',
    '2606:4700::1111',
  ])('%s is allowed', (address) => expect(guard().judge(address, 80)).toBeNull());

  it('refuses a text that is no address, and never says which address was asked about', () => {
    expect(guard().judge('', 80)).toMatch(/no usable address/);
    expect(guard().judge('10.1.2.3', 80)).not.toContain('10.1');
  });
});

describe('Guard: loopback', () => {
  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])(
    '%s is allowed only when the member listens on loopback',
    (address) => {
      expect(guard({ loopback: true }).judge(address, 8080)).toBeNull();
      expect(guard({ loopback: false }).judge(address, 8080)).not.toBeNull();
    },
  );

  it.each(['0.0.0.0', '::', '10.0.0.1', '169.254.169.254'])(
    'listening on loopback does not open %s',
    (address) => expect(guard({ loopback: true }).judge(address, 8080)).not.toBeNull(),
  );
});

describe('Guard: the allow list', () => {
  const open = guard({
    allow: ['10.0.0.0/8', '192.168.1.0/24:8080', '[fd00::/8]:443'].flatMap(parseAllow),
  });

  it.each([
    ['10.1.2.3', 1],
    ['::ffff:10.1.2.3', 65_535],
    ['192.168.1.9', 8080],
    ['fd12::1', 443],
  ])('opens %s port %d', (address, port) => expect(open.judge(address, port)).toBeNull());

  it.each([
    ['192.168.1.9', 80],
    ['192.168.2.9', 8080],
    ['fd12::1', 80],
    ['fc12::1', 443],
    ['127.0.0.1', 80],
  ])('does not open %s port %d', (address, port) =>
    expect(open.judge(address, port)).not.toBeNull(),
  );

  it.each([
    ['loopback', '127.1.2.3'],
    ['loopback', '::1'],
    ['private', '172.31.0.1'],
    ['private', 'fd00::1'],
    ['link-local', '169.254.1.1'],
    ['link-local', 'fe80::1'],
  ])('%s opens %s, and nothing else', (word, address) => {
    const worded = guard({ allow: parseAllow(word) });
    expect(worded.judge(address, 80)).toBeNull();
    expect(worded.judge('100.64.0.1', 80)).not.toBeNull();
    expect(guard().judge(address, 80)).not.toBeNull();
  });

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '64:ff9b::169.254.169.254',
  ])('never opens the metadata service %s', (address) => {
    const all = guard({ allow: ['0.0.0.0/0', '::/0'].flatMap(parseAllow), loopback: true });
    expect(all.judge(address, 80)).toContain('metadata');
    expect(guard().judge(address, 80)).not.toBeNull();
  });

  it.each([
    '',
    '10.0.0.0/8:',
    '10.0.0.0/8:0',
    '10.0.0.0/8:65536',
    '10.0.0.0/40',
    'example.com',
    '__proto__',
    '[fd00::/8',
    '[10.0.0/8]:1',
    '10.0.0.0/8:80 ',
  ])('refuses the rule "%s" in words', (text) =>
    expect(() => parseAllow(text)).toThrow(/is not an allowed range/),
  );
});

describe('Guard: own listeners, peers and etcd', () => {
  const endpoints: readonly Endpoint[] = [
    { host: '127.0.0.1', port: 7253 },
    { host: '0.0.0.0', port: 7254 },
    { host: '10.0.0.9', port: 7254 },
    { host: '[fd00::9]', port: 7254 },
    { host: 'Etcd.Internal', port: 2379 },
    { host: 'localhost', port: 7256 },
  ];
  const open = guard({
    allow: ['0.0.0.0/0', '::/0'].flatMap(parseAllow),
    loopback: true,
    denied: () => endpoints,
  });

  it.each([
    ['127.0.0.1', 7253],
    ['127.0.0.2', 7253],
    ['::1', 7253],
    ['::ffff:127.0.0.1', 7253],
    ['0.0.0.0', 7253],
    ['::', 7253],
    ['127.0.0.1', 7256],
    ['::1', 7256],
    ['127.0.0.1', 7254],
    ['192.168.1.5', 7254],
    ['2a00::5', 7254],
    ['10.0.0.9', 7254],
    ['::ffff:10.0.0.9', 7254],
    ['fd00::9', 7254],
  ])('%s port %d is denied, even if it is allowed', (address, port) => {
    expect(open.judge(address, port)).toContain('part of this cluster');
  });

  it.each([
    ['127.0.0.1', 7255],
    ['10.0.0.9', 80],
    ['192.168.1.5', 7253],
    ['192.168.1.6', 7254],
  ])('%s port %d is not', (address, port) => expect(open.judge(address, port)).toBeNull());

  it('compares names as names', () => {
    expect(open.judgeName('etcd.internal', 2379)).not.toBeNull();
    expect(open.judgeName('ETCD.internal.', 2379)).not.toBeNull();
    expect(open.judgeName('etcd.internal', 2380)).toBeNull();
    expect(open.judgeName('other.internal', 2379)).toBeNull();
  });

  it('follows the list when it changes, and tells by its edition', () => {
    let peers: readonly Endpoint[] = [];
    const changing = guard({ denied: () => peers });
    const before = changing.edition();
    expect(changing.edition()).toBe(before);
    expect(changing.judge('9.9.9.9', 80)).toBeNull();
    peers = [{ host: '9.9.9.9', port: 80 }];
    expect(changing.edition()).not.toBe(before);
    expect(changing.judge('9.9.9.9', 80)).not.toBeNull();
  });

  it('asks the operating system for the machine when not told', () => {
    const options = { allow: [], loopback: true, denied: () => endpoints };
    expect(new Guard(options).judge('127.0.0.1', 7254)).not.toBeNull();
  });
});
