/** Refuses to start a member that listens beyond loopback without authentication, unless `insecureNoAuth` is set. */
import { isIPv4 } from 'node:net';
import { splitHostPort } from '@carillon/core';

/** The configuration does not let the member start; trying again would not help. The message says the ways out. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface StartRule {
  /** `host:port` of every public listener. */
  readonly listens: readonly string[];
  /** Whether there is a token to ask for. */
  readonly hasTokens: boolean;
  readonly insecureNoAuth: boolean;
  /** Where tokens would be. */
  readonly tokensFile: string;
}

/** Throws StartError. */
export function checkStart({ listens, hasTokens, insecureNoAuth, tokensFile }: StartRule): void {
  if (hasTokens || insecureNoAuth) return;
  const open = listens.find((listen) => !isLoopback(splitHostPort(listen).host));
  if (open === undefined) return;
  throw new StartError(
    `The member would listen at ${open}, where others can reach it, and there is no token in ${tokensFile}. ` +
      `Make one (carillon token create --name NAME --scope admin --tokens ${tokensFile}), ` +
      'listen at 127.0.0.1 or [::1], or say --insecure-no-auth to let every client in that reaches it.',
  );
}

/** 127.0.0.0/8, ::1, and the name that everywhere means them. A name that only looks like an address is none. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIPv4(host) && host.startsWith('127.');
}
