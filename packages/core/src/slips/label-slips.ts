/**
 * Labels of members whose names look misspelt. Names are free, so `zoen: a` is no error; but its member then stands in
 * no zone, and copies that should be in distinct zones are not.
 */
import { nearestWord } from './nearest-word.ts';

export interface WithLabels {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The names that are compared with, the longest name that is looked at, and the sentences: work is bounded. */
const knownMax = 32;
const lengthMax = 64;
const sentencesMax = 20;
const namedMax = 3;

/**
 * A sentence for each label name that is one slip away from a level, or from a name that more members have, and whose
 * member has not that other name too. `levels` are the names that placement reads.
 */
export function labelSlips(
  members: readonly WithLabels[],
  levels: readonly string[],
): readonly string[] {
  const holders = holdersOf(members);
  const byCount = [...holders].toSorted(([, a], [, b]) => b.length - a.length);
  const common = byCount.slice(0, knownMax);
  return byCount
    .filter(([label]) => !levels.includes(label) && label.length <= lengthMax)
    .flatMap(([label, having]) => {
      const better = common.filter(([, others]) => others.length > having.length);
      const known = [...new Set([...levels, ...better.map(([name]) => name)])];
      const meant = nearestWord(label, known, 1);
      if (meant === null) return [];
      const others = holders.get(meant) ?? [];
      const without = having.filter((name) => !others.includes(name));
      return without.length === 0 ? [] : [sentence({ label, meant, without, others, levels })];
    })
    .slice(0, sentencesMax);
}

/** The names of the members that have each label. */
function holdersOf(members: readonly WithLabels[]): ReadonlyMap<string, readonly string[]> {
  const holders = new Map<string, string[]>();
  for (const { name, labels = {} } of members) {
    for (const label of Object.keys(labels)) {
      const list = holders.get(label);
      if (list === undefined) holders.set(label, [name]);
      else list.push(name);
    }
  }
  return holders;
}

interface Slip {
  readonly label: string;
  readonly meant: string;
  readonly without: readonly string[];
  readonly others: readonly string[];
  readonly levels: readonly string[];
}

function sentence({ label, meant, without, others, levels }: Slip): string {
  const named = without.slice(0, namedMax).join(', ');
  const all = without.length > namedMax ? `${named} and ${without.length - namedMax} more` : named;
  const have = without.length === 1 ? 'has' : 'have';
  const beside =
    others.length === 0
      ? ''
      : `, which ${others.length === 1 ? `${others[0]} has` : `${others.length} other members have`}`;
  const unread = levels.includes(meant)
    ? ` Placement reads ${levels.join(', ')} and no other label.`
    : '';
  return `${all} ${have} the label "${label}" and no "${meant}"${beside}: a slip?${unread}`;
}
