/**
 * Addresses that the member will listen at, tried before anything else is done: a taken one is told alone, before a
 * data folder is opened and lines are logged.
 */
import { splitHostPort } from '@carillon/core';
import { createServer } from 'node:net';

/** Rejects with the error of the system, such as EADDRINUSE, for an address that cannot be listened at. */
export function tryAddress(address: string): Promise<void> {
  const { host, port } = splitHostPort(address);
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}
