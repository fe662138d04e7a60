/** The limits of a member as the table in docs/security.md shows them. */
import { eachOption } from '../../../packages/server/src/config/config.ts';

const shown =
  /^(limits|callbacks\.(allow|timeoutMs|timeoutMsMax|inFlightMax)|auth|access|history)\b/;

/** One row an option: name, default, and the first sentence of its help. */
export function defaultRows(): string[] {
  return eachOption()
    .filter(({ key }) => shown.test(key))
    .map(({ key, spec }) => `| \`${key}\` | ${valueText(spec.value)} | ${sentence(spec.help)} |`);
}

function valueText(value: unknown): string {
  if (value === null) return 'not set';
  if (typeof value === 'number') return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
  return Array.isArray(value) && value.length === 0 ? 'none' : JSON.stringify(value);
}

function sentence(help: string): string {
  return `${help.split(/\. /, 1)[0]?.replace(/\.$/, '')}.`;
}
