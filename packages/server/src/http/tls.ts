/**
 * TLS in front of the public listener: a server whose connections are used like plain ones, once they are secure. Its
 * certificate can be replaced while it runs; connections that exist keep theirs.
 */
import { constants } from 'node:crypto';
import type { Server, Socket } from 'node:net';
import { createSecureContext, createServer, type TLSSocket } from 'node:tls';

/** PEM, with the certificates that lie between it and the authority, and its private key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface SecureServerOptions {
  readonly certificate: Certificate;
  /** A client that has not made its connection secure by then is cut. */
  readonly handshakeMsMax: number;
  readonly accept: (socket: TLSSocket) => void;
  /** The client did not speak TLS, or offered no safe version or cipher. */
  readonly refused: () => void;
}

export interface SecureServer {
  readonly server: Server;
  replace(certificate: Certificate): void;
  /** Drops connections that are not secure yet. */
  dropUnready(): void;
}

/** Throws with a sentence when the two cannot be used together. */
export function checkCertificate(certificate: Certificate): Certificate {
  const { cert, key } = certificate;
  if (!cert.includes('-----BEGIN CERTIFICATE-----') || !key.includes('PRIVATE KEY-----')) {
    throw new Error('A certificate and its private key are needed, both as PEM.');
  }
  try {
    createSecureContext(contextOf(certificate));
  } catch (cause) {
    throw new Error('The certificate and its private key do not fit together.', { cause });
  }
  return certificate;
}

export function createSecureServer(options: SecureServerOptions): SecureServer {
  const { certificate, handshakeMsMax, accept, refused } = options;
  /** By addresses of both ends, because Node hands out another socket object after the handshake. */
  const unready = new Map<string, Socket>();
  const server = createServer({
    ...contextOf(certificate),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: handshakeMsMax,
    // A client that leaves during the handshake waits for no answer, so close at once.
    allowHalfOpen: false,
    noDelay: true,
  });
  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    unready.set(ends, socket);
    socket.once('close', () => unready.delete(ends));
  });
  server.on('secureConnection', (socket) => {
    unready.delete(endsOf(socket));
    // From here on a client may end its side and still read its answers.
    socket.allowHalfOpen = true;
    accept(socket);
  });
  server.on('tlsClientError', (_, socket) => {
    refused();
    socket.destroy();
  });
  return {
    server,
    replace: (next) => server.setSecureContext(contextOf(next)),
    dropUnready: () => {
      for (const socket of unready.values()) socket.destroy();
    },
  };
}

function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

function contextOf({ cert, key }: Certificate) {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    // Renegotiating costs the member more than the client.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
}
