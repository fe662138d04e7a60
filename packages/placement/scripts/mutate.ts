/**
 * Breaks single rules, one at a time, in a copy of the sources, and runs the tests there: every break must make one
 * fail. A few minutes; run it after changing a rule or a test.
 *
 *   node --conditions=source scripts/mutate.ts [words of the mutation]
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Mutation {
  readonly rule: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const mutations: readonly Mutation[] = [
  {
    rule: 'labels: a domain of one member takes no backup place that is not its own',
    file: 'labels/spread',
    from: '(i < backupsFrom && !hasSeveral(place))',
    to: 'false',
  },
  {
    rule: 'labels: the domain of the primary keeps a member free',
    file: 'labels/spread',
    from: 'copies < end - start ? 1 : 0',
    to: 'copies < end - start ? 0 : 0',
  },
  {
    rule: 'labels: a domain is as strong as its members together',
    file: 'labels/labelled-targets',
    from: 'this.nearness(high ? Math.max(own, hash) : Math.min(own, hash), weight, high)',
    to: 'this.nearness(own, weight, high)',
  },
  {
    rule: 'labels: domains keep their order when their members change',
    file: 'labels/spread',
    from: 'return a.rank < b.rank;',
    to: 'return a.high < b.high;',
  },
  {
    rule: 'lowest is primary (two picks of few)',
    file: 'flat/rendezvous',
    from: 'if (k > 0) out[0] = lowestAt;\n    if (k > 1) out[1] = highestAt;\n    return k;\n  }\n}',
    to: 'if (k > 0) out[0] = highestAt;\n    if (k > 1) out[1] = lowestAt;\n    return k;\n  }\n}',
  },
  {
    rule: 'lowest is primary (general)',
    file: 'flat/ranker',
    from: '(scores[i] as number) < (scores[at] as number)',
    to: '(scores[i] as number) > (scores[at] as number)',
  },
  {
    rule: 'highest wins',
    file: 'flat/ranker',
    from: 'const better = -Number(score > best);',
    to: 'const better = -Number(score < best);',
  },
  {
    rule: 'second before third',
    file: 'flat/ranker',
    from: 'const beats2 = -Number(score >= best2);',
    to: 'const beats2 = 0;',
  },
  {
    rule: 'weights count',
    file: 'flat/ranker',
    from: 'logOfHash(this.score(i)) / weight',
    to: 'logOfHash(this.score(i))',
  },
  {
    rule: 'weights count for primaries',
    file: 'flat/ranker',
    from: 'const lowest = uniform ?',
    to: 'const lowest = uniform || true ?',
  },
  {
    rule: 'collisions are raised',
    file: 'flat/ranker',
    from: 'free = (free + 1) >>> 0',
    to: 'return free',
  },
  {
    rule: 'name order',
    file: 'flat/rendezvous',
    from: 'specs.sort((a, b) => compareNames(a.name, b.name));',
    to: '',
  },
  { rule: 'quorum is exact', file: 'health', from: 'failed > quorum', to: 'failed >= quorum' },
  {
    rule: 'quorum of the right level',
    file: 'health',
    from: 'topology.quorum[vertex.depth + 1]',
    to: 'topology.quorum[vertex.depth]',
  },
  { rule: 'none up is hollow', file: 'health', from: ' || failed === counted.length', to: '' },
  {
    rule: 'hollow children fail their parent',
    file: 'health',
    from: "child.state !== 'up'",
    to: "child.state === 'dead'",
  },
  {
    rule: 'planned is no candidate',
    file: 'health',
    from: 'if (vertex.weight === 0)',
    to: 'if (vertex.weight < 0)',
  },
  {
    rule: 'up before hollow',
    file: 'tree',
    from: "const up = inState('up');\n  const hollow = inState('hollow');",
    to: "const up = [...inState('up'), ...inState('hollow')];\n  const hollow: Branch[] = [];",
  },
  {
    rule: 'handed out in rank order',
    file: 'walk',
    from: 'for (let i = base; i < base + size && left > 0; i++) {',
    to: 'for (let i = base + size - 1; i >= base && left > 0; i--) {',
  },
  {
    rule: 'interleave',
    file: 'walk',
    from: 'for (let round = 0, more = true; more; round++) {\n      more = false;\n      for (let i = base; i < base + size; i++) {',
    to: 'for (let round = 0, more = true; more; round++) {\n      more = false;\n      for (let i = base + size - 1; i >= base; i--) {',
  },
  {
    rule: 'order by the chosen targets',
    file: 'walk',
    from: 'this.#firstScore = this.#score[base] as number;\n    const chosenUp',
    to: 'const chosenUp',
  },
  {
    rule: 'seeds are chained',
    file: 'topology',
    from: 'hash.text(name, parentSeed)',
    to: 'hash.text(name, 0)',
  },
  {
    rule: 'weights do not add up',
    file: 'topology',
    from: "weights === 'sum' && children.length > 0",
    to: 'children.length > 0',
  },
  {
    rule: 'rollout is below',
    file: 'accounts',
    from: 'rolloutPoint(account.id, id) < rollout',
    to: 'rolloutPoint(account.id, id) > rollout',
  },
  {
    rule: 'new accounts see their expansion',
    file: 'accounts',
    from: 'i <= createdAt',
    to: 'i < createdAt',
  },
  {
    rule: 'line of succession',
    file: 'pools/pool',
    from: 'rank % width === i && isUp(position)',
    to: 'isUp(position) && !taken.has(position)',
  },
  {
    rule: 'slots are named by owners',
    file: 'pools/pool',
    from: 'const own = this.seed(vertex.owner);',
    to: 'const own = this.seed(Math.max(0, vertex.serving));',
  },
  {
    rule: 'substitute serves',
    file: 'pools/pool',
    from: 'this.#add(own, servers[i] ?? -1)',
    to: 'this.#add(own, own)',
  },
  {
    rule: 'stripes spread evenly',
    file: 'pools/virtual-tree',
    from: 'index * fanOut +',
    to: 'index +',
  },
  {
    rule: 'empty slots are passed over',
    file: 'pools/virtual-tree',
    from: 'if (this.#served[place * disks + disk] === 0) continue;',
    to: '',
  },
  {
    rule: 'skeleton sequence differs by role',
    file: 'flat/skeleton',
    from: 'const backupSeed = 1;',
    to: 'const backupSeed = 0;',
  },
  {
    rule: 'minimum of a diff',
    file: 'diff',
    from: 'Math.max(0, after - before)',
    to: 'Math.max(0, after)',
  },
  {
    rule: 'bloom has all bits',
    file: 'flat/bloom',
    from: '(bits.hi & ~bloom.hi) === 0 &&',
    to: '',
  },
  {
    rule: 'one hash per text byte order',
    file: 'flat/hash',
    from: '<< ((length & 3) << 3)',
    to: '<< ((3 - (length & 3)) << 3)',
  },
];

/** Slow, and about shares that the other tests do not look at. */
const skipped = ['--exclude', '**/statistics.test.ts'];
const home = join(import.meta.dirname, '..');
const root = join(home, '..', '..');
const wanted = process.argv.slice(2).join(' ');
if (run({ rule: 'nothing', file: 'index', from: '', to: '' })) {
  throw new Error('The tests fail before anything is broken.');
}
let survivors = 0;
for (const mutation of mutations.filter(({ rule }) => rule.includes(wanted))) {
  const failed = run(mutation);
  if (!failed) survivors++;
  console.log(`${failed ? 'noticed ' : 'SURVIVED'}  ${mutation.rule}`);
}
console.log(survivors === 0 ? 'Every break was noticed.' : `${survivors} breaks went unnoticed.`);
process.exitCode = survivors === 0 ? 0 : 1;

/** True when a test failed, as it should. */
function run({ file, from, to, rule }: Mutation): boolean {
  const copy = mkdtempSync(join(tmpdir(), 'mutate-'));
  try {
    for (const part of ['src', 'vectors', 'package.json']) {
      cpSync(join(home, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const path = join(copy, 'src', `${file}.ts`);
    const source = readFileSync(path, 'utf8');
    if (!source.includes(from)) throw new Error(`"${rule}": ${file}.ts no longer has "${from}".`);
    writeFileSync(path, source.replace(from, to));
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const { status } = spawnSync(
      process.execPath,
      [vitest, ...`run --root ${copy} --bail 1 --testTimeout 120000`.split(' '), ...skipped],
      // A broken rule may also hang: that is noticed too.
      { stdio: 'ignore', timeout: 300_000 },
    );
    return status !== 0;
  } finally {
    rmSync(copy, { recursive: true });
  }
}
