/** `carillon doctor`: findings about the cluster, each with advice, and a bundle of facts for a report. */
import { writeFile } from 'node:fs/promises';
import { formatDuration } from '@carillon/core';
import type { Carillon } from '@carillon/client';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { type OptionKinds, parseOptions } from '../../options.ts';
import { jsonLine, oneLine, paint, table } from '../../terminal/style.ts';
import { arrayOf, getJson, inner, isJson, type Json, textOf } from '../../timers/api-timer.ts';

const kinds = { ...connectOptions, bundle: 'text' } as const satisfies OptionKinds;

export const command: Command = {
  name: 'doctor',
  summary: 'Examine the cluster: findings, each with advice.',
  usage: `Usage: carillon doctor [--bundle FILE]

Asks every member for its clock, disk, syncs, sockets, release, view, limits and failing receivers. A finding is wrong,
needs a look, or is a note, and comes with advice. Exit 1 when something is wrong or the cluster cannot be examined;
findings that only need a look do not change the exit code.

  --bundle FILE    Write findings, cluster, figures and options to a file, to be sent with a report: no secrets, no
                   opaques, no ids, and of URLs the origin alone
${connectUsage}`,
  examples: [
    'carillon doctor',
    'carillon doctor --json',
    'carillon doctor --bundle carillon-bundle.json',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    if (operands.length > 0) throw new UsageError('carillon doctor takes flags only.');
    const client = connect(flags, io);
    const { bundle: file } = flags;
    const answer =
      file === undefined ? await ask(client, '/doctor', io) : await bundled(client, file, io);
    if (flags.json) jsonLine(io, answer);
    else io.out(shown(answer, io));
    return answer['verdict'] === 'wrong' ? exit.failed : exit.done;
  },
};

async function ask(client: Carillon, path: string, io: Io): Promise<Json> {
  const needs = path === '/doctor' ? 'findings' : 'doctor';
  const answer = await getJson(client, { path, needs }, io);
  if (answer === null) throw new Error('This member is of a release that examines nothing.');
  return answer;
}

/** Writes the bundle, and returns the findings in it. Others on this machine may not read it. */
async function bundled(client: Carillon, file: string, io: Io): Promise<Json> {
  const bundle = await ask(client, '/doctor/bundle', io);
  const text = `${JSON.stringify(bundle, null, 2)}\n`;
  await writeFile(file, text, { mode: 0o600 });
  io.err(`${file} has ${sizeText(text.length)}. Read it before you send it.`);
  return inner(bundle, 'doctor');
}

const colours = { wrong: 'red', look: 'yellow', note: 'blue' } as const;
const words = { wrong: 'wrong', look: 'look ', note: 'note ' } as const;

function shown(answer: Json, io: Io): string {
  const findings = arrayOf(answer, 'findings').filter(isJson);
  const isWell = findings.every(({ weight }) => weight === 'note');
  return [
    ...(isWell ? [paint(io, 'green', 'All is well.')] : []),
    ...findings.map((finding) => findingText(finding, io)),
    '',
    memberTable(arrayOf(answer, 'members').filter(isJson), io),
  ].join('\n');
}

function findingText(finding: Json, io: Io): string {
  const weight = weightOf(finding['weight']);
  const says = oneLine(textOf(finding['says']));
  const advice = oneLine(textOf(finding['do']));
  return `${paint(io, colours[weight], words[weight])}  ${says}\n       ${paint(io, 'dim', advice)}`;
}

function weightOf(value: unknown): keyof typeof colours {
  return value === 'wrong' || value === 'look' ? value : 'note';
}

function memberTable(members: readonly Json[], io: Io): string {
  const titles = ['MEMBER', 'RELEASE', 'UP', 'CLOCK', 'DISK FREE', 'SYNC P99', 'FILES'];
  const more = ['CONNECTIONS', 'RECORDS', 'LETTERS'];
  const rows = members.map((member) => [
    textOf(member['name']),
    textOf(member['release']),
    timeText(member['up-ms']),
    measured(member['clock-offset-ms'], (ms) => `${Math.round(ms)} ms`),
    measured(inner(member, 'disk-room')['free-bytes'], sizeText),
    timeText(member['fsync-p99-ms']),
    shareText(inner(member, 'open-files')),
    shareText(inner(member, 'connections')),
    shareText(inner(member, 'timers')),
    shareText(inner(member, 'letters')),
  ]);
  return table(io, [...titles, ...more], rows);
}

function measured(value: unknown, text: (value: number) => string): string {
  return typeof value === 'number' ? text(value) : '-';
}

function timeText(value: unknown): string {
  return measured(value, (ms) => formatDuration(Math.max(0, ms)));
}

function shareText({ now, max }: Json): string {
  if (typeof now !== 'number') return '-';
  return typeof max === 'number' ? `${now} of ${max}` : String(now);
}

function sizeText(bytes: number): string {
  if (bytes >= 1024 ** 3) return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return bytes >= 1024 ** 2
    ? `${(bytes / 1024 ** 2).toFixed(1)} MiB`
    : `${Math.ceil(bytes / 1024)} KiB`;
}
