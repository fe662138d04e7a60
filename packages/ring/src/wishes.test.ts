import { describe, expect, test } from 'vitest';
import { rendezvous, successor } from './placements.ts';
import { Ring } from './ring.ts';
import { keyOf, VirtualRings } from './testing/virtual-rings.ts';
import { assignWithWishes, wishFor } from './wishes.ts';

const sharing = (id: string) => ({ id, weight: 1, labels: {} });
const wishing = (id: string, slot: number) => ({ id, ...wishFor(slot) });

describe.each([rendezvous, successor()])('wishes with $name', (placement) => {
  test('a slot goes to the member that wishes for it, and no other slot moves', () => {
    const before = placement.assign([sharing('a'), sharing('b')], 64);
    const after = assignWithWishes(placement, [sharing('a'), wishing('c', 12), sharing('b')], 64);
    expect(after).toEqual(before.with(12, 'c'));
  });

  test('of several members that wish for a slot one gets it, the same in every order', () => {
    const members = [wishing('c', 12), wishing('d', 12), wishing('e', 12)];
    const [owner] = assignWithWishes(placement, members, 64).filter((id) => id !== null);
    expect(['c', 'd', 'e']).toContain(owner);
    expect(assignWithWishes(placement, members.toReversed(), 64)[12]).toBe(owner);
  });

  test.each(['64', '-1', '1.5', 'x', ''])('a wish for slot %j moves nothing', (slot) => {
    const odd = { id: 'c', weight: 0, labels: { 'only-for-slot': slot === '' ? 'none' : slot } };
    const before = placement.assign([sharing('a')], 64);
    expect(assignWithWishes(placement, [sharing('a'), odd], 64)).toEqual(before);
  });
});

describe('a process that is here for one key', () => {
  test('contends with a service for it: waits for the holder however long, then the service waits', async () => {
    const rings = new VirtualRings();
    const { ring: service } = await rings.openWith('service');
    const key = keyOf(service, 'service');
    const first = await service.lock(key);
    const { ring: command } = await rings.open();
    await rings.settled(command.addMember('command', { onlyFor: key }));
    const waiting = command.lock(key);
    await rings.clock.advance(60_000);
    expect(first.lost.aborted).toBe(false);
    const again = service.lock(key);
    await first.release();
    const second = await rings.settled(waiting);
    expect(second.token).toBeGreaterThan(first.token);
    expect(service.ownedSlots()).toHaveLength(63);
    await rings.settled(Promise.all([second.release(), command.close()]));
    expect((await rings.settled(again)).token).toBeGreaterThan(second.token);
  });

  test('takes over the settings of the ring that it finds', async () => {
    const rings = new VirtualRings();
    await rings.openWith('service', { placement: 'successor', slots: 100 });
    const { etcd, clock } = rings;
    const ring = await rings.settled(Ring.open({ etcd: etcd.connect(), clock, prefix: 'p' }));
    await rings.settled(ring.addMember('command', { onlyFor: 'k' }));
    await rings.clock.advance(100);
    expect(ring.ownedSlots()).toHaveLength(1);
    expect(await ring.lock('k')).toMatchObject({ holder: 'command' });
  });
});
