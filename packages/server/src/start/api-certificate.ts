/** The certificate of the public API of a real member: from its files, kept up to date. */
import { type Clock, type Log, sentenceOf } from '@carillon/core';
import { StartError } from '../access/start-rule.ts';
import { type Certificate, checkCertificate } from '../http/tls.ts';
import type { Config } from '../config/config.ts';
import { ReloadingFile } from '../config/reloading-file.ts';

export interface ApiCertificateOptions {
  readonly config: Pick<Config, 'tls'>;
  readonly clock: Clock;
  readonly log: Log;
}

export class ApiCertificate {
  private readonly file: ReloadingFile<Certificate> | null;
  /** Told when there is another one. */
  changed: (certificate: Certificate) => void = () => {};

  private constructor(file: ReloadingFile<Certificate> | null) {
    this.file = file;
  }

  /** Rejects with StartError when the files cannot be used. */
  static async open({ config, clock, log }: ApiCertificateOptions): Promise<ApiCertificate> {
    const { certificate, key } = config.tls;
    if (certificate === null || key === null) return new ApiCertificate(null);
    try {
      const file = await ReloadingFile.open<Certificate>({
        what: 'The certificate of the API',
        files: [certificate, key],
        make: ([certText = '', keyText = '']) => checkCertificate({ cert: certText, key: keyText }),
        clock,
        log,
        changed: (value) => opened.changed(value),
      });
      const opened: ApiCertificate = new ApiCertificate(file);
      return opened;
    } catch (cause) {
      throw new StartError(sentenceOf(cause), { cause });
    }
  }

  /** null: the API is served without TLS. */
  get value(): Certificate | null {
    return this.file?.value ?? null;
  }

  /** Reads the files again. */
  async reload(): Promise<void> {
    await this.file?.reload();
  }

  close(): void {
    this.file?.close();
  }
}
