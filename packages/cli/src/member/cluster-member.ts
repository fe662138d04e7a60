/** One member of a cluster: by name, and how to reach exactly it. */
import type { ClusterMember } from '@carillon/client';
import { UsageError } from '../command.ts';

export function memberNamed(all: readonly ClusterMember[], name: string): ClusterMember {
  const member = all.find((known) => known.name === name);
  if (member !== undefined) return member;
  const names = all.map((known) => known.name).join(', ');
  throw new UsageError(`There is no member "${name}"; the members are ${names}.`);
}

/** As `--server` takes it: members that were asked by https are not reached by a bare address, which means http. */
export function shownAddress({ address }: ClusterMember, servers: readonly string[]): string {
  return isHttps(servers) ? `https://${address}` : address;
}

/** The member that was asked is reached the way it was asked; others by the address they have in the view. */
export function memberUrl(member: ClusterMember, servers: readonly string[]): string {
  const [server = ''] = servers;
  if (member.self && servers.length === 1) return server;
  return `${isHttps(servers) ? 'https' : 'http'}://${member.address}`;
}

/** All members of a cluster are asked in the same way. */
function isHttps([server = '']: readonly string[]): boolean {
  return server.startsWith('https:');
}
