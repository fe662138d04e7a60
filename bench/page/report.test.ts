import { describe, expect, test } from 'vitest';
import { picturesOf } from './charts.ts';
import { figure } from './figures.ts';
import { pageOf } from './html.ts';
import { ringSection } from '../micro/ring-section.ts';
import {
  isPlaced,
  withCosts,
  withFigures,
  withNewest,
  withNewestSummary,
  withPlaced,
  withSummary,
} from './markdown.ts';
import { ratioOf, type Report, type Row, type Section } from './section.ts';
import { summaryOf } from './summary.ts';
import { tableOf, terminalTable } from './table.ts';

function row(name: string, kind: Row['kind'], value: number | null, note?: string): Row {
  const values = { value };
  return { name, label: `<${name}>`, kind, values, ...(note === undefined ? {} : { note }) };
}

function section(better: 'more' | 'less', rows: readonly Row[]): Section {
  return {
    id: 'sets',
    title: 'W1',
    what: 'sets',
    columns: [{ key: 'value', title: 'sets', unit: 'perSecond', better }],
    rows,
    headline: { column: 'value', reference: 'carillon' },
    charts: [{ kind: 'bars', id: 'sets', title: 'W1', column: 'value' }],
    notes: [],
  };
}

function report(sections: readonly Section[]): Report {
  const machine = { cpu: 'cpu', cores: 2, memoryGiB: 4, os: 'Linux', versions: { node: '24' } };
  const missing = [{ label: 'BullMQ', reason: 'redis-server is not here' }];
  const startedAt = '2026-01-02T00:00:00.000Z';
  return {
    machine,
    startedAt,
    tookSeconds: 60,
    isQuick: false,
    loadBefore: 0.1,
    missing,
    sections,
  };
}

const ours = row('carillon', 'ours', 100);
const slow = row('slow', 'peer', 25);
const fast = row('fast', 'peer', 200);
const none = row('none', 'peer', null, 'failed: no disk');

describe('ratios', () => {
  test('say how many times better Carillon is, whichever way is better', () => {
    expect(ratioOf(section('more', [ours, slow]), slow)).toBe(4);
    expect(ratioOf(section('less', [ours, slow]), slow)).toBe(0.25);
  });

  test('are left out for Carillon itself and where there is no figure', () => {
    const all = section('more', [ours, none]);
    expect(ratioOf(all, ours)).toBeNull();
    expect(ratioOf(all, none)).toBeNull();
    expect(ratioOf(section('more', [slow]), slow)).toBeNull();
  });

  test('in the summary are to the best peer, not to a baseline', () => {
    const baseline = row('settimeout', 'baseline', 9000);
    const { rows } = summaryOf(report([section('more', [ours, slow, fast, none, baseline])]));
    expect(rows).toEqual([['W1', 'sets', '100/s', '<fast>', '200/s', '0.50 ×']]);
  });
});

describe('figures', () => {
  test.each([
    [12_345, 'perSecond', '12.3 k/s'],
    [1_234_567, 'perSecond', '1.23 M/s'],
    [0.0512, 'ms', '0.05 ms'],
    [1234.4, 'ms', '1 234 ms'],
    [20_000, 'count', '20 000'],
    [null, 'bytes', '–'],
    [Number.NaN, 'bytes', '–'],
  ] as const)('%s as %s is %s', (value, unit, shown) => {
    expect(figure(value, unit)).toBe(shown);
  });
});

describe('a section', () => {
  test('keeps a row without a figure, with its reason', () => {
    const text = terminalTable(tableOf(section('more', [ours, none])));
    expect(text).toMatch(/<none> +– +failed: no disk/);
  });

  test('is drawn with a bar a row, also when figures are far apart or missing', () => {
    const far = row('far', 'peer', 1e9);
    const [picture] = picturesOf(section('more', [ours, far, none]));
    expect(picture?.file).toBe('bench-sets.svg');
    expect(picture?.svg).toContain('logarithmic');
    expect(picture?.svg).toContain('no figure');
    expect(picture?.svg).not.toMatch(/NaN|Infinity/);
    expect(picture?.svg.match(/<rect /g)).toHaveLength(4);
  });

  test('without any figure has no picture', () => {
    expect(picturesOf(section('more', [none]))).toEqual([]);
  });

  test('draws lines over both kinds of axes without leaving the picture', () => {
    const points = [
      [1000, 0],
      [1_000_000, 12],
    ] as const;
    const chart = {
      kind: 'lines',
      id: 'growth',
      title: 'Growth',
      x: { title: 'timers', scale: 'log', unit: 'count' },
      y: { title: 'CPU', scale: 'linear', unit: 'micros' },
      series: [{ name: 'set', label: 'set', kind: 'ours', points }],
    } as const;
    const [picture] = picturesOf({ ...section('more', []), charts: [chart] });
    const drawn = / aria-label="line".*? d="([^"]+)"/.exec(picture?.svg ?? '')?.[1] ?? '';
    const numbers = drawn.slice(1).split(/[L,]/).map(Number);
    expect(numbers).toHaveLength(4);
    expect(numbers.every((value) => value >= 0 && value <= 720)).toBe(true);
    expect(picture?.svg).not.toMatch(/NaN|Infinity/);
  });
});

describe('the page', () => {
  test('has every section and the missing ones, with names made harmless', () => {
    const page = pageOf(report([section('more', [ours, slow])]));
    expect(page).toContain('Missing: BullMQ.');
    expect(page).toContain('&lt;slow&gt;');
    expect(page).not.toContain('<slow>');
    expect(page).toContain('<svg ');
  });

  test('in the docs changes between its marks only', () => {
    const marks = ['<!-- figures: written by npm run bench -->', '<!-- end of figures -->'];
    const before = `# Title\n\n${marks.join('\nold figures\n')}\n\n## Method\n`;
    const after = withFigures(before, report([section('more', [ours, slow])]));
    expect(after).toMatch(/^# Title\n\n<!-- figures/);
    expect(after).toMatch(/<!-- end of figures -->\n\n## Method\n$/);
    expect(after).not.toContain('old figures');
    expect(after).toContain('![W1](images/bench-sets.svg)');
    expect(withFigures(after, report([section('more', [ours, slow])]))).toBe(after);
  });

  test('sections with marks of their own are written by a run of their part, and by no other', () => {
    const empty = ['ring', 'trees'].map((id) => {
      const part = id === 'ring' ? 'ring' : 'placement';
      return `<!-- ${id}: written by npm run bench -- --only ${part} -->\nold ${id}\n<!-- end of ${id} -->`;
    });
    const measured = { locks: { perCpuSecond: 900_000 }, handOver: { durable: { p50Ms: 7.6 } } };
    const after = withPlaced(empty.join('\n\n'), report([ringSection(measured)]));
    expect(after).not.toContain('old ring');
    expect(after).toContain('old trees');
    const broken = { ...ringSection({}), rows: [{ ...ours, note: 'failed: no answer' }] };
    expect(withPlaced(after, report([broken]))).toBe(after);
    expect(after).toMatch(/lock and unlock in owned slots.*\| 900.*\| 200.*\| met \|/);
    expect(after).toMatch(/durable hand-over to another process.*\| 7.6.*\| 5.*\| not met \|/);
    const marks = '<!-- figures: written by npm run bench -->\n<!-- end of figures -->';
    expect(withFigures(marks, report([ringSection(measured)]))).not.toContain('The lock ring');
  });

  test('a story has marks of its own, and a run that failed leaves the figures and pictures of the one before', () => {
    const story = { ...section('more', [ours]), id: 'quota' };
    expect(isPlaced(story)).toBe(true);
    expect(isPlaced({ ...story, rows: [{ ...ours, note: 'failed: no answer' }] })).toBe(false);
    expect(isPlaced(section('more', [ours]))).toBe(false);
    const marks = '<!-- quota: written by npm run bench -- --only quota -->\n<!-- end of quota -->';
    expect(withPlaced(marks, report([story]))).toContain('![W1](images/bench-sets.svg)');
  });

  test('without marks is refused instead of losing text', () => {
    expect(() => withFigures('# Title', report([]))).toThrow('has no block figures');
  });
});

describe('pages beside the benchmarks', () => {
  const marked = (what: string): string =>
    `before\n<!-- ${what}: written by npm run bench -->\nold\n<!-- end of ${what} -->\nafter\n`;

  test('the summary replaces the table of the README, and says how sets are measured', () => {
    const page = withSummary(marked('summary'), report([section('more', [ours, fast])]));
    expect(page).toContain('| W1 | sets | 100/s | <fast> | 200/s | 0.50 × |');
    expect(page).toContain('through the library of each system');
    expect(page).not.toContain('old');
    expect(page).toMatch(/^before\n[^]*after\n$/);
  });

  test('newer figures of sets, bulk, burst and updates stand below the table until the next whole run', () => {
    const newest =
      '<!-- newest: written by npm run bench -- --only sets,bulk,burst,updates -->\n\n<!-- end of newest -->\n';
    const sets = section('more', [ours, fast]);
    const others = [
      { ...sets, id: 'bulk', title: 'W1b' },
      { ...sets, id: 'burst', title: 'W3' },
    ];
    const updates = { ...sets, id: 'updates', title: 'W6' };
    const all = report([sets, ...others, updates]);
    const page = withNewestSummary(`${marked('summary')}${newest}`, all);
    expect(page).toContain('measured on 2026-01-02, alone, with a load average of 0.1');
    for (const line of page.split('\n').filter((one) => one.startsWith('|'))) {
      expect(withNewest(newest, all).split('\n')).toContain(line);
    }
    expect(withSummary(page, report([sets]))).not.toContain('were measured on');
    expect(withFigures(`${marked('figures')}${withNewest(newest, all)}`, all)).toContain(newest);
    const broken = report([sets, ...others, { ...updates, rows: [ours, none] }]);
    for (const less of [broken, report([sets])]) {
      expect(withNewestSummary(page, less)).toBe(page);
      expect(withNewest(newest, less)).toBe(newest);
    }
  });

  test('costs are of one member, without rows that were not measured', () => {
    const own = { ...section('more', [{ ...ours, values: { serverMicros: 24.81 } }, fast]) };
    const page = withCosts(marked('costs'), report([own]));
    expect(page).toContain(
      '| CPU of a set, synced to disk | 24.8 µs | `npm run bench -- --only sets` |',
    );
    expect(page).not.toContain('nothing is due');
    expect(page).not.toContain('old');
  });

  test('a page without the marks is refused', () => {
    expect(() => withCosts('nothing', report([]))).toThrow('The page has no block costs');
  });
});
