/** Reference pages that are written by the code they describe, so that they cannot say anything else. */
import { eachOption, type OptionEntry } from '../../packages/server/src/config/config.ts';
import { Wrong } from '../../packages/server/src/config/options/kinds.ts';
import { flagOf, variableOf } from '../../packages/server/src/config/load.ts';
import { wrapMarkdown } from '../markdown/wrap-markdown.ts';
import { Metrics } from '../../packages/server/src/metrics/metrics.ts';

const generated = 'Written by `npm run reference` from the code; a test compares both.';

export function configurationPage(): string {
  return `# Configuration

Every option of a member. ${generated}

A value comes from the first of these that has one: a flag (\`--limits-body-bytes-max 1MiB\`), an environment variable
(\`CARILLON_LIMITS_BODY_BYTES_MAX\`), the file given with \`--config\` (YAML or JSON, groups as objects), the default.
\`carillon config print\` shows the value of each option and where it came from. Times and sizes are whole numbers in the
unit of the name, or carry a unit of their own: \`500ms\`, \`10s\`, \`5m\`, \`24h\`, \`64KiB\`, \`8MiB\`.

${eachOption().map(optionText).join('\n\n')}
`;
}

function optionText({ key, spec }: OptionEntry): string {
  const allowed = spec.kind(Symbol('no value'));
  const values = allowed instanceof Wrong ? allowed.expected : 'any';
  const names = `Flag \`--${flagOf(key)}\`, variable \`${variableOf(key)}\`.`;
  return `### \`${key}\`

${wrapMarkdown(spec.help)}

${wrapMarkdown(`Default: ${valueText(spec.value)}. Values: ${values}. ${names}`)}`;
}

function valueText(value: unknown): string {
  if (value === null) return 'not set';
  if (typeof value === 'number') return `\`${grouped(value)}\``;
  if (typeof value === 'string') return `\`${value}\``;
  const text = JSON.stringify(value);
  return text === '[]' || text === '{}' ? 'none' : `\`${text}\``;
}

/** 10000000 → 10 000 000: easier to read, never mistaken for another number. */
function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
}

export function metricsPage(): string {
  const text = new Metrics({ version: '', runtime: '' }).render();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
  );
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(
    ([, name, help]) => `| \`${name}\` | ${types.get(name)} | ${help} |`,
  );
  return `# Metrics

${wrapMarkdown(`The metrics that \`GET /metrics\` of a member answers, as Prometheus text. ${generated} No id, URL or address is ever a label.`)}

| name | type | meaning |
|---|---|---|
${rows.join('\n')}
`;
}
