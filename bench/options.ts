/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';
import { type Part, parts } from './sections.ts';
import { type SystemName, systemNames } from './systems/system.ts';

export interface Options {
  readonly parts: readonly Part[];
  readonly systems: readonly SystemName[];
  readonly isQuick: boolean;
  /** How long the stories last; null: as usual. */
  readonly storySeconds: number | null;
  /** Everything that belongs into the docs. */
  readonly isWhole: boolean;
}

/** The fault of the command line, or the usage. */
export interface BadOptions {
  readonly says: string;
  readonly isHelp: boolean;
}

const usage = `Usage: npm run bench [-- --only PART,PART] [--systems SYSTEM,SYSTEM] [--quick] [--seconds N]

Runs the same workloads against Carillon and the job queues that people use today, in turn, on this machine. Progress goes to
standard error, tables to standard output, everything to bench/report/ (results.json, index.html, pictures). A whole run also
rewrites the figures in docs/benchmarks.md; limits, ring, placement and requests write their own sections there. It needs about 25 minutes and a machine that does nothing else.

  --only     Parts, by name; default all but limits, ring, client-heap, restart-large and the stories
  --systems  Systems, by name; default all. Without --only, then only the parts that compare systems
  --seconds  How long the stories last; default 150, so that each takes less than five minutes
  --quick    Small sizes: a few minutes, shows that everything runs, figures mean nothing

Parts:
${parts.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join('\n')}

Systems: ${systemNames.join(', ')}.`;

export function readOptions(args: readonly string[]): Options | BadOptions {
  const given = parsed(args);
  if ('says' in given) return given;
  const { only, systems, quick, seconds, help } = given;
  if (help === true) return { says: usage, isHelp: true };
  const names = only?.split(',') ?? null;
  const systemList = systems?.split(',') ?? [...systemNames];
  const badPart = names?.find((name) => !parts.some((part) => part.name === name));
  if (badPart !== undefined) return refusal(`There is no part ${badPart}.`);
  const badSystem = systemList.find((name) => !isSystem(name));
  if (badSystem !== undefined) return refusal(`There is no system ${badSystem}.`);
  if (seconds !== undefined && !/^[1-9]\d{0,5}$/.test(seconds)) {
    return refusal(`--seconds is a number of seconds, not ${seconds}.`);
  }
  const isUsual = ({ isUsual: usual, isComparing }: Part): boolean =>
    usual && (systems === undefined || isComparing);
  return {
    parts: parts.filter((part) => (names === null ? isUsual(part) : names.includes(part.name))),
    systems: systemList.filter(isSystem),
    isQuick: quick === true,
    storySeconds: seconds === undefined ? null : Number(seconds),
    isWhole: names === null && systems === undefined && quick !== true,
  };
}

interface Given {
  readonly only?: string | undefined;
  readonly systems?: string | undefined;
  readonly quick?: boolean | undefined;
  readonly seconds?: string | undefined;
  readonly help?: boolean | undefined;
}

function parsed(args: readonly string[]): Given | BadOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        systems: { type: 'string' },
        quick: { type: 'boolean' },
        seconds: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values;
  } catch (error) {
    return refusal(error instanceof Error ? error.message : String(error));
  }
}

function refusal(what: string): BadOptions {
  return { says: `${what}\n\n${usage}`, isHelp: false };
}

function isSystem(name: string): name is SystemName {
  return (systemNames as readonly string[]).includes(name);
}
