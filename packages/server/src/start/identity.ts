/**
 * A member's name, the addresses it listens at, and the addresses others know it by: from its configuration and the
 * members file.
 */
import { readFile } from 'node:fs/promises';
import { formatHostPort, type Log, splitHostPort } from '@carillon/core';
import { advertisedAddress } from './advertise.ts';
import { MembersFileError, parseMembers } from '../cluster/sources/members-file.ts';
import { type Config, defaultConfig } from '../config/config.ts';

export interface Identity {
  readonly name: string;
  readonly listen: string;
  /** Where clients find it, as others are told. */
  readonly address: string;
  /** null: alone. */
  readonly peerListen: string | null;
  /** Where peers find it, as others are told. */
  readonly peer: string | null;
}

/** Ports of the peer listener follow the public one at this distance, unless configured. */
const peerPortOffset = 100;

export async function identify(config: Config): Promise<Identity> {
  const { listen, advertise, cluster } = config;
  if (cluster.membersFile !== null) return identifyInFile(config, cluster.membersFile);
  const address = advertise.api ?? advertisedAddress(listen);
  if (cluster.etcdEndpoints.length === 0) {
    return { name: config.name ?? listen, listen, address, peerListen: null, peer: null };
  }
  const peerListen = cluster.peerListen ?? besideOf(listen);
  const peer = advertise.peer ?? advertisedAddress(peerListen);
  return { name: config.name ?? peer, listen, address, peerListen, peer };
}

async function identifyInFile(config: Config, file: string): Promise<Identity> {
  const members = membersIn(file, await readFile(file, 'utf8'));
  const self = members.find(({ name }) => name === config.name);
  if (self === undefined) {
    const names = members.map(({ name }) => name).join(', ');
    const says = `The members file ${file} lists ${names}`;
    throw new MembersFileError(
      config.name === null
        ? `${says}: say with --name which of them this member is.`
        : `${says}, but not "${config.name}": --name must be one of them.`,
    );
  }
  const { name, address, peer } = self;
  const listen = config.listen === defaultConfig.listen ? address : config.listen;
  return { name, listen, address, peerListen: config.cluster.peerListen ?? peer, peer };
}

/** Throws MembersFileError, which names the file. */
function membersIn(file: string, text: string): ReturnType<typeof parseMembers> {
  try {
    return parseMembers(text);
  } catch (cause) {
    if (!(cause instanceof MembersFileError)) throw cause;
    throw new MembersFileError(`The members file ${file}: ${cause.message}`, { cause });
  }
}

/** How to give this member another address to listen at than the one of its identity. */
export function otherAddressHint(config: Config, which: 'listen' | 'peerListen'): string {
  const { membersFile, peerListen } = config.cluster;
  const isFromFile =
    which === 'listen' ? config.listen === defaultConfig.listen : peerListen === null;
  if (membersFile !== null && isFromFile) return `The members file ${membersFile} names this one.`;
  const flag = which === 'listen' ? '--listen' : '--peer-listen';
  return `${flag} HOST:PORT names another address.`;
}

/** An advertised address that was guessed may be wrong, so the log names it. */
export function logGuesses({ advertise }: Config, identity: Identity, log: Log): void {
  const { listen, address, peerListen, peer } = identity;
  if (advertise.api === null && address !== listen) {
    log.info('Clients are told the first address of this machine; --advertise names another.', {
      event: 'address-guessed',
      listen,
      address,
    });
  }
  if (advertise.peer === null && peer !== peerListen) {
    log.info(
      'Members are told the first address of this machine; --advertise-peer names another.',
      { event: 'peer-address-guessed', peerListen, peer },
    );
  }
}

/** The configuration; clients may also use the names that the member listens at or is advertised by. */
export function withOwnHosts(config: Config, { listen, address }: Identity): Config {
  const own = [listen, address].map((one) => splitHostPort(one).host);
  return { ...config, access: { ...config.access, hosts: [...config.access.hosts, ...own] } };
}

function besideOf(listen: string): string {
  const { host, port } = splitHostPort(listen);
  return formatHostPort({ host, port: port + peerPortOffset });
}
