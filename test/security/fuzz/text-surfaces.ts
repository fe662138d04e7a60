/**
 * Texts that people write: cron patterns, timer ids, instants, durations, and the files that a member or the command
 * line reads.
 */
import fc from 'fast-check';
import {
  CarillonError,
  decodeDefinition,
  encodeDefinition,
  formatTimerId,
  parseDuration,
  parseTimerId,
  parseTraceparent,
} from '@carillon/core';
import type { SeededRandom } from '@carillon/core/testing';
import { buildTopology, compileTopology, PlacementError } from '@carillon/placement';
import { parseTokens, renderTokens, TokensFileError } from '@carillon/server';
import { topologySpec } from '../../../packages/placement/src/testing/random-topology.contract.ts';
import { parseInstant } from '../../../packages/server/src/api/instant.ts';
import { parseTiming } from '../../../packages/server/src/api/parse-timing.ts';
import {
  MembersFileError,
  parseMembers,
} from '../../../packages/server/src/cluster/sources/members-file.ts';
import { loadConfig } from '../../../packages/server/src/config/load.ts';
import { parseRetryAfter } from '../../../packages/server/src/callback/answers/retry-after.ts';
import { definitionOf } from '../../../packages/server/src/testing/records.ts';
import { testToken } from '../../../packages/server/src/testing/tokens.ts';
import { Mutator } from './mutate.ts';
import { allowing, bytesOf, hold, type Surface, textOf, type Verdict } from './surface.ts';

const wallMs = Date.UTC(2026, 0, 1);

export function textSurfaces(seed: number): Surface[] {
  return [
    cronPatterns(),
    timerIds(),
    instants(),
    traces(),
    topologies(seed),
    membersFiles(),
    tokensFiles(),
    configFiles(),
  ];
}

interface TextSurface {
  readonly name: string;
  readonly share: number;
  readonly corpus: readonly string[];
  readonly words: readonly string[];
  readonly put: (text: string) => Verdict;
}

function surface({ name, share, corpus, words, put }: TextSurface): Surface {
  const mutator = new Mutator({ corpus: corpus.map(bytesOf), words });
  return {
    name,
    share,
    make: (random) => mutator.make(random),
    put: (input) => put(textOf(input)),
  };
}

const fields = [
  '*',
  '?',
  '0',
  '1',
  '5',
  '30',
  '31',
  '29',
  '59',
  '60',
  '*/5',
  '*/0',
  '1-5',
  '5-1',
  '1,2,3',
  '0-59/7',
  'L',
  '5L',
  '15W',
  'LW',
  '1#2',
  '1#5',
  'MON',
  'MON-FRI',
  'JAN',
  'feb',
  '7',
  '-1',
  '1-',
  ',',
  '2#',
  '99',
];

function cronPatterns(): Surface {
  const corpus = [
    '* * * * *',
    '0 0 30 2 *',
    '0 0 29 2 *',
    '@daily',
    '*/5 9-17 * * MON-FRI',
    '0 0 31 4,6 *',
  ];
  const mutator = new Mutator({
    corpus: corpus.map(bytesOf),
    words: [...fields, ' ', '@', '/', '-'],
  });
  const assembled = (random: SeededRandom): Uint8Array =>
    bytesOf(Array.from({ length: random.between(4, 7) }, () => random.pick(fields)).join(' '));
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe'];
  return {
    name: 'cron-patterns',
    share: 3,
    // 512 compiled patterns are remembered, some 50 KiB each.
    keepsBytes: 32 * 1024 * 1024,
    make: (random) => (random.chance(0.5) ? assembled(random) : mutator.make(random)),
    put: (input) => {
      const timezone = zones[input.length % zones.length] as string;
      const body = { cron: textOf(input), timezone, forever: true };
      return allowing([CarillonError], () => parseTiming(body, wallMs));
    },
  };
}

function timerIds(): Surface {
  return surface({
    name: 'timer-ids',
    share: 14,
    corpus: ['00000019000000010000000100000002-2', '0000001900000001-16', 'ffffffffffffffff-1'],
    words: ['-', '0', '17', 'g', 'F', ' ', '\n', '0x'],
    put: (text) => {
      const id = parseTimerId(text);
      if (id === null) return 'refused';
      // One with an empty filter is said without it.
      const said = formatTimerId(id);
      hold(said === text || said === text.replace(/0{16}-/, '-'), `${text} is said as ${said}.`);
      return 'taken';
    },
  });
}

function instants(): Surface {
  return surface({
    name: 'instants',
    share: 8,
    corpus: [
      '2026-01-31T12:00:00Z',
      '2026-01-31T12:00:00.5+02:00',
      '10m',
      '1h30m',
      '120',
      'Wed, 21 Oct 2026 07:28:00 GMT',
    ],
    words: ['T', 'Z', '+', '-', ':', '.', '00', '99', '1e9', 'ms', 'd', 'GMT'],
    put: (text) => {
      const found = [parseInstant(text), parseDuration(text), parseRetryAfter(text, wallMs)];
      for (const one of found)
        hold(one === null || Number.isFinite(one), `${text} is read as ${one}.`);
      return found.some((one) => one !== null) ? 'taken' : 'refused';
    },
  });
}

const traceForm = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

function traces(): Surface {
  return surface({
    name: 'traces',
    share: 4,
    corpus: [
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more',
    ],
    words: ['00-', 'ff-', '-', '-01', '0'.repeat(16), 'A', 'g'],
    put: (text) => {
      const trace = parseTraceparent(text);
      if (trace === null) return 'refused';
      hold(traceForm.test(trace), `${text} is read as ${trace}.`);
      const kept = decodeDefinition(encodeDefinition(definitionOf({ trace }))).trace;
      hold(kept === trace, `${trace} is kept as ${kept}.`);
      return 'taken';
    },
  });
}

function topologies(seed: number): Surface {
  const small = fc.sample(topologySpec(), { seed, numRuns: 200 }).map((one) => JSON.stringify(one));
  return surface({
    name: 'topology-files',
    share: 3,
    corpus: [
      ...small.filter((text) => text.length < 4000),
      '{"levels":["disk"],"children":[{"id":"a"}]}',
    ],
    words: [
      '"weight":',
      '"children":[',
      '"levels":[',
      '"up":',
      '"slots":',
      '-1',
      '1e308',
      'null',
      '{}',
      '[]',
      '"/"',
    ],
    put: (text) => {
      const spec = parsed(text);
      if (spec === undefined) return 'refused';
      return allowing([PlacementError], () => compileTopology(buildTopology(spec)));
    },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function membersFiles(): Surface {
  const member = {
    name: 'a',
    address: '10.0.0.1:7253',
    peer: '10.0.0.1:7254',
    labels: { zone: 'x' },
  };
  const two = {
    members: [member, { ...member, name: 'b', address: 'b:1', peer: 'b:2', weight: 0 }],
  };
  const yaml = 'members:\n  - name: a\n    address: a:1\n    peer: a:2\n    phase: leaving\n';
  return surface({
    name: 'members-files',
    share: 1,
    corpus: [JSON.stringify(two), yaml],
    words: [
      '&a ',
      '*a',
      '- ',
      ':\n',
      '!!binary ',
      '<<: ',
      '%YAML 9',
      '---\n',
      '? ',
      '|',
      '"',
      '\t',
      '[[[[',
      '{{{{',
    ],
    put: (text) => allowing([MembersFileError], () => parseMembers(text)),
  });
}

function tokensFiles(): Surface {
  return surface({
    name: 'tokens-files',
    share: 6,
    corpus: [
      renderTokens({
        tokens: [testToken(1).token, testToken(2).token],
        numberKey: 'ab'.repeat(32),
      }),
      '{"tokens":[]}',
    ],
    words: [
      '"number-key":',
      '"*"',
      '"admin"',
      '"until":',
      'null',
      '""',
      '{',
      '[',
      '\\u0000',
      '"id":',
      '"digest":',
    ],
    put: (text) => allowing([TokensFileError], () => parseTokens(text)),
  });
}

function configFiles(): Surface {
  const yaml =
    'listen: 127.0.0.1:7253\nlimits:\n  bodyBytesMax: 65536\ncallbacks:\n  allow: [10.0.0.0/8]\n';
  return surface({
    name: 'config-files',
    share: 0.5,
    corpus: [
      yaml,
      '{"limits":{"bodyBytesMax":1}}',
      'log: {level: debug}\n',
      'cluster:\n  etcdEndpoints: [http://e:1]\n',
    ],
    words: [
      '&a ',
      '*a',
      '- ',
      ': ',
      '\n  ',
      '-1',
      '1e99',
      '.inf',
      '.nan',
      'true',
      'null',
      '[',
      '{',
      '"',
      '__proto__:',
    ],
    put: (text) => {
      const loaded = loadConfig({ flags: { config: 'x' }, readFile: () => text });
      hold(loaded.ok || loaded.problems.length > 0, 'A refusal has no reason.');
      return loaded.ok ? 'taken' : 'refused';
    },
  });
}
