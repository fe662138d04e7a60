/** How to get into an etcd with TLS or passwords, from the options of a member. */
import { sentenceOf } from '@carillon/core';
import { readFileSync } from 'node:fs';
import type { EtcdClientOptions } from '@carillon/ring';
import type { Config } from '../../config/config.ts';

export type EtcdAccess = Pick<EtcdClientOptions, 'tls' | 'auth'>;

/** Throws with a sentence when a file cannot be read. */
export function etcdAccess({ ca, certificate, key, user, ...rest }: Config['etcd']): EtcdAccess {
  const tls = {
    ...(ca !== null && { ca: contents('etcd.ca', ca) }),
    ...(certificate !== null && { cert: contents('etcd.certificate', certificate) }),
    ...(key !== null && { key: contents('etcd.key', key) }),
  };
  const { password, passwordFile } = rest;
  const secret =
    passwordFile === null ? password : contents('etcd.passwordFile', passwordFile).trimEnd();
  return {
    ...(Object.keys(tls).length > 0 && { tls }),
    ...(user !== null && { auth: { user, password: secret ?? '' } }),
  };
}

function contents(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = sentenceOf(cause);
    throw new Error(`The file of the option ${option} cannot be read: ${reason}`, { cause });
  }
}
