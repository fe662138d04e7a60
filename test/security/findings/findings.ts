/** Every attack of the table in docs/security.md. */
import type { Finding } from './finding.ts';
import { memberFindings } from './members.ts';
import { parserFindings } from './parsers.ts';
import { requestFindings } from './requests.ts';

export const findings: readonly Finding[] = [
  ...parserFindings,
  ...memberFindings,
  ...requestFindings,
].toSorted((a, b) => a.number - b.number);
