/** Certificates of receivers by HTTPS, made by openssl. */
import { spawnSync } from 'node:child_process';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export function hasOpenssl(): boolean {
  return spawnSync('openssl', ['version']).status === 0;
}

/** A certificate for a name, good for a day. */
export function selfSigned(name: string): Certificate {
  const made = spawnSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=${name} -addext subjectAltName=DNS:${name} -keyout - -out -`.split(
      ' ',
    ),
    { encoding: 'utf8' },
  ).stdout;
  const part = (kind: string): string =>
    new RegExp(`-----BEGIN ${kind}-----[^]*?-----END ${kind}-----`).exec(made)?.[0] ?? '';
  return { cert: part('CERTIFICATE'), key: part('PRIVATE KEY') };
}
