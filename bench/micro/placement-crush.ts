/**
 * CRUSH (straw2) on the same cluster, by Ceph's own `crushtool`, when the machine has one: on the PATH, or where
 * CARILLON_CRUSHTOOL says. Without it the row is left out, and the report says so.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const tool = process.env['CARILLON_CRUSHTOOL'] ?? 'crushtool';
const keyCount = 100_000;

/** Two zones, three machines in each, one disk of each: six replicas, as ours. */
const rule = `rule spread {
	id 0
	type replicated
	min_size 1
	max_size 10
	step take root
	step choose firstn 2 type zone
	step chooseleaf firstn 3 type node
	step emit
}
`;

export interface Crush {
  /** Placements of six replicas per second of CPU time. */
  readonly perSecond: number;
  /** Copies that move when one disk is removed, against the copies it had. */
  readonly moved: number;
}

export function crush(): Crush | null {
  if (spawnSync(tool, ['--help']).error !== undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), 'crush-'));
  try {
    const map = join(folder, 'map');
    execFileSync(
      tool,
      [
        ...'--build --num_osds 1024 -o'.split(' '),
        map,
        ...'node straw2 16 zone straw2 32 root straw2 0'.split(' '),
      ],
      { stdio: 'ignore' },
    );
    execFileSync(tool, ['-d', map, '-o', `${map}.txt`]);
    const text = readFileSync(`${map}.txt`, 'utf8');
    writeFileSync(`${map}.txt`, text.slice(0, text.indexOf('# rules')) + rule);
    execFileSync(tool, ['-c', `${map}.txt`, '-o', map]);
    execFileSync(tool, ['-i', map, '--remove-item', 'osd.100', '-o', `${map}.less`], {
      stdio: 'ignore',
    });
    return { perSecond: speed(map), moved: movedCopies(map, `${map}.less`) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The tool's own start is measured with one key and taken off. */
function speed(map: string): number {
  const many = cpuSeconds(map, keyCount);
  return (keyCount - 1) / (many - cpuSeconds(map, 1));
}

/** CPU time of the shell's children: the second line of `times`, user then system. */
function cpuSeconds(map: string, keys: number): number {
  const line = `"$0" "$@" > /dev/null 2>&1; times`;
  const args = ['-c', line, tool, ...testArgs(map, keys), '--show-statistics'];
  const [, children = ''] = execFileSync('sh', args, { encoding: 'utf8' }).split('\n');
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  return seconds.reduce((sum, one) => sum + one, 0);
}

function testArgs(map: string, keys: number): string[] {
  return ['-i', map, ...`--test --rule 0 --num-rep 6 --min-x 0 --max-x ${keys - 1}`.split(' ')];
}

function movedCopies(before: string, after: string): number {
  const old = mappings(before);
  const now = mappings(after);
  let moved = 0;
  let had = 0;
  for (const [i, targets] of old.entries()) {
    if (targets.includes(100)) had++;
    moved += (now[i] as number[]).filter((target) => !targets.includes(target)).length;
  }
  return moved / had;
}

/** Lines such as `CRUSH rule 0 x 17 [3,5,8,600,611,900]`. */
function mappings(map: string): number[][] {
  const { stdout, stderr } = spawnSync(tool, [...testArgs(map, keyCount), '--show-mappings'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return [...`${stdout}${stderr}`.matchAll(/x \d+ \[([\d,]*)\]/g)].map(([, list]) =>
    (list as string).split(',').map(Number),
  );
}
