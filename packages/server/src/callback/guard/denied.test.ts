import { settle, VirtualClock } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { Denied } from './denied.ts';
import { Guard, parseAllow } from './guard.ts';

const everything = ['0.0.0.0/0', '::/0'].flatMap(parseAllow);

/** A name server whose answers the test changes; empty: it does not answer. */
function create(zone: Record<string, readonly string[]>) {
  const clock = new VirtualClock();
  let machine = ['10.0.0.1'];
  const denied = new Denied({
    clock,
    resolve: (name, done) => done(zone[name] ?? []),
    fixed: [
      { host: '0.0.0.0', port: 7253 },
      { host: 'etcd.internal', port: 2379 },
    ],
    machine: () => machine,
  });
  const guard = new Guard({
    allow: everything,
    loopback: true,
    denied: () => denied.all,
    machine: () => machine,
  });
  const become = (...addresses: string[]): void => {
    machine = addresses;
  };
  return { clock, denied, guard, become };
}

describe('Denied', () => {
  it('holds the addresses behind the name of etcd, under any other name', async () => {
    const { denied, guard } = create({ 'etcd.internal': ['10.0.0.9', 'fd00::9'] });
    expect(guard.judge('10.0.0.9', 2379)).toBeNull();
    await denied.start();
    expect(guard.judge('10.0.0.9', 2379)).toContain('part of this cluster');
    expect(guard.judge('::ffff:10.0.0.9', 2379)).toContain('part of this cluster');
    expect(guard.judge('fd00::9', 2379)).toContain('part of this cluster');
    expect(guard.judge('10.0.0.9', 2380)).toBeNull();
    expect(guard.judgeName('etcd.internal', 2379)).toContain('part of this cluster');
    denied.close();
  });

  it('keeps up when the name leads elsewhere, and keeps its addresses when no name server answers', async () => {
    const zone: Record<string, readonly string[]> = { 'etcd.internal': ['10.0.0.9'] };
    const { clock, denied, guard } = create(zone);
    await denied.start();
    const before = guard.edition();
    await clock.advance(60_000);
    expect(guard.edition()).toBe(before);
    zone['etcd.internal'] = ['10.0.0.8'];
    await clock.advance(10_000);
    expect(guard.edition()).not.toBe(before);
    expect(guard.judge('10.0.0.8', 2379)).not.toBeNull();
    expect(guard.judge('10.0.0.9', 2379)).toBeNull();
    zone['etcd.internal'] = [];
    await clock.advance(60_000);
    expect(guard.judge('10.0.0.8', 2379)).not.toBeNull();
    denied.close();
  });

  it('holds the listeners of each view, also ones given by name', async () => {
    const { denied, guard } = create({ 'b.internal': ['10.0.0.2'] });
    await denied.start();
    denied.setMembers([
      { host: 'b.internal', port: 7353 },
      { host: '10.0.0.3', port: 7353 },
    ]);
    expect(guard.judge('10.0.0.3', 7353)).not.toBeNull();
    await settle();
    expect(guard.judge('10.0.0.2', 7353)).not.toBeNull();
    denied.setMembers([]);
    expect(guard.judge('10.0.0.2', 7353)).toBeNull();
    expect(guard.judge('10.0.0.3', 7353)).toBeNull();
    denied.close();
  });

  it('a listener at every address is denied at each address of the machine, also at one it got later', async () => {
    const { clock, denied, guard, become } = create({});
    await denied.start();
    for (const address of ['10.0.0.1', '127.0.0.1', '127.9.9.9', '::1', '0.0.0.0']) {
      expect(guard.judge(address, 7253), address).not.toBeNull();
    }
    expect(guard.judge('10.0.0.77', 7253)).toBeNull();
    become('10.0.0.1', '10.0.0.77', 'fd00::77');
    await clock.advance(10_000);
    expect(guard.judge('10.0.0.77', 7253)).not.toBeNull();
    expect(guard.judge('fd00::77', 7253)).not.toBeNull();
    denied.close();
  });

  it('asks no name server any more once it is closed', async () => {
    let asked = 0;
    const clock = new VirtualClock();
    const denied = new Denied({
      clock,
      resolve: (_, done) => {
        asked++;
        done([]);
      },
      fixed: [{ host: 'etcd.internal', port: 2379 }],
    });
    await denied.start();
    denied.close();
    await clock.advance(60_000);
    expect(asked).toBe(1);
  });
});
