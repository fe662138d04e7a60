/** Certificates for tests, made on the spot with the openssl command; without it there is nothing to test with. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PeerTls } from './credentials.ts';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const newKey = 'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

export class Certificates {
  readonly folder = mkdtempSync(join(tmpdir(), 'carillon-certificates-'));

  /** Where a file lies: `NAME.crt`, `NAME.key`. */
  path(file: string): string {
    return join(this.folder, file);
  }

  authority(name: string): void {
    this.run(`${newKey} -x509 -keyout ${name}.key -out ${name}.crt -days 2 -subj /CN=${name}`);
  }

  /** `names`: such as `DNS:a` or `IP:127.0.0.1`. Returns the contents of the files, which are named like `file`. */
  issue(authority: string, file: string, ...names: string[]): PeerTls {
    const signer = `-CA ${authority}.crt -CAkey ${authority}.key -CAcreateserial`;
    writeFileSync(this.path('names.cnf'), `subjectAltName=${names.join(',')}\n`);
    this.run(`${newKey} -keyout ${file}.key -out ${file}.csr -subj /CN=someone`);
    this.run(`x509 -req -in ${file}.csr ${signer} -days 2 -extfile names.cnf -out ${file}.crt`);
    const read = (name: string): string => readFileSync(this.path(name), 'utf8');
    return { cert: read(`${file}.crt`), key: read(`${file}.key`), ca: read(`${authority}.crt`) };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private run(command: string): void {
    execFileSync('openssl', command.split(' '), { cwd: this.folder, stdio: 'ignore' });
  }
}
