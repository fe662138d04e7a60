/**
 * Addresses that the member will listen at, tried before anything else is done: a taken one is told alone, before a
 * data folder is opened and lines are logged.
 */
import { sentenceOf, splitHostPort } from '@carillon/core';
import { createServer } from 'node:net';
import type { Config } from '../config/config.ts';
import { type Identity, otherAddressHint } from './identity.ts';

/** Rejects for one that cannot be listened at, with advice where another program has it. */
export async function tryAddresses(config: Config, identity: Identity): Promise<void> {
  for (const which of ['listen', 'peerListen'] as const) {
    const address = identity[which];
    if (address === null) continue;
    await tryAddress(address).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      const hint = `Is a member running there already? ${otherAddressHint(config, which)}`;
      throw new Error(`${sentenceOf(error)}. ${hint}`, { cause: error });
    });
  }
}

/** Rejects with the error of the system, such as EADDRINUSE, for an address that cannot be listened at. */
function tryAddress(address: string): Promise<void> {
  const { host, port } = splitHostPort(address);
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}
