import { expect, test } from 'vitest';
import { defaultConfig, eachOption } from './config.ts';
import { Wrong } from './options/kinds.ts';
import { type ConfigSources, flagOf, loadConfig, variableOf } from './load.ts';

function loaded(sources: ConfigSources) {
  const result = loadConfig(sources);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result;
}

function problems(sources: ConfigSources): readonly string[] {
  const result = loadConfig(sources);
  return result.ok ? [] : result.problems;
}

const fileOf = (content: string): ConfigSources => ({
  flags: { config: 'c.yaml' },
  readFile: () => content,
});

test('without any source every option has its default and says so', () => {
  const { config, entries } = loaded({});
  expect(config).toEqual(defaultConfig);
  expect(config.listen).toBe('127.0.0.1:7253');
  expect(config.limits.bodyBytesMax).toBe(262_144);
  expect(new Set(entries.map((entry) => entry.origin.source))).toEqual(new Set(['default']));
});

test('every default is a value its own kind accepts, unchanged', () => {
  for (const { key, spec } of eachOption()) {
    expect([key, spec.kind(spec.value)]).toEqual([key, spec.value]);
  }
});

test('of very many problems the first twenty are told, and of a long value its beginning', () => {
  const unknown = Array.from({ length: 3000 }, (_, i) => `"k${i}":1`).join(',');
  expect(problems(fileOf(`{${unknown}}`))).toHaveLength(20);
  const [problem = ''] = problems(fileOf(`listen: [${'"a", '.repeat(2000)}]\n`));
  expect(problem).toContain('The option listen in c.yaml must be');
  expect(problem.length).toBeLessThan(500);
});

test('names are derived mechanically and no two options share one', () => {
  expect(flagOf('limits.bodyBytesMax')).toBe('limits-body-bytes-max');
  expect(variableOf('limits.bodyBytesMax')).toBe('CARILLON_LIMITS_BODY_BYTES_MAX');
  const keys = eachOption().map((entry) => entry.key);
  expect(new Set(keys.map(flagOf)).size).toBe(keys.length);
});

test('a flag beats the environment, which beats the file, which beats the default', () => {
  const sources = {
    ...fileOf('logLevel: debug\ndefaultFactor: 3\nlimits:\n  jsonDepthMax: 10\n'),
    env: { CARILLON_DEFAULT_FACTOR: '4', CARILLON_LIMITS_JSON_DEPTH_MAX: '11', HOME: '/' },
  };
  const { config, entries } = loaded({
    ...sources,
    flags: { ...sources.flags, 'limits-json-depth-max': '12' },
  });
  expect([config.logLevel, config.defaultFactor, config.limits.jsonDepthMax]).toEqual([
    'debug',
    4,
    12,
  ]);
  const origin = (key: string) => entries.find((entry) => entry.key === key)?.origin;
  expect(origin('logLevel')).toEqual({ source: 'file', name: 'c.yaml' });
  expect(origin('defaultFactor')).toEqual({
    source: 'environment',
    name: 'CARILLON_DEFAULT_FACTOR',
  });
  expect(origin('limits.jsonDepthMax')).toEqual({
    source: 'flag',
    name: '--limits-json-depth-max',
  });
});

test('the file may be JSON, and may be named by the environment', () => {
  const sources = { env: { CARILLON_CONFIG: 'c.json' }, readFile: () => '{"durability":"memory"}' };
  expect(loaded(sources).config.durability).toBe('memory');
});

test('times and sizes may carry a unit', () => {
  const { config } = loaded({
    flags: {
      'callbacks-timeout-ms': '20s',
      'retry-limit-ms': '7d',
      'limits-body-bytes-max': '1MiB',
    },
  });
  expect(config.callbacks.timeoutMs).toBe(20_000);
  expect(config.retry.limitMs).toBe(604_800_000);
  expect(config.limits.bodyBytesMax).toBe(1_048_576);
});

test('lists and labels are understood in texts and in files', () => {
  const fromFlags = loaded({
    flags: { 'callbacks-allow': ['loopback', '10.0.0.0/8'], 'cluster-labels': 'region=eu, zone=a' },
  }).config;
  const fromFile = loaded(
    fileOf('callbacks: {allow: [loopback, 10.0.0.0/8]}\ncluster: {labels: {region: eu, zone: a}}'),
  ).config;
  expect(fromFlags.callbacks.allow).toEqual(['loopback', '10.0.0.0/8']);
  expect(fromFlags.cluster.labels).toEqual({ region: 'eu', zone: 'a' });
  expect(fromFile).toEqual(fromFlags);
});

test.each([
  [{ listen: 'nonsense' }, 'host:port'],
  [{ listen: '127.0.0.1:70000' }, 'host:port'],
  [{ durability: 'disc' }, 'one of disk, memory'],
  [{ 'default-factor': '17' }, 'from 1 to 16'],
  [{ 'default-factor': '1.5' }, 'whole number'],
  [{ 'default-factor': '' }, 'whole number'],
  [{ 'callbacks-timeout-ms': '10 parsecs' }, 'or with a unit'],
  [{ 'cluster-labels': 'region' }, 'region=eu'],
  [{ 'cluster-labels': '__proto__=x' }, 'region=eu'],
  [{ 'cluster-etcd-endpoints': 'http://a:1,ftp://b' }, 'each item is a URL'],
])('a bad flag %j gives one sentence with the right form', (flags, right) => {
  const found = problems({ flags });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`--${Object.keys(flags)[0]}`);
  expect(found[0]).toContain(right);
});

test('all problems come at once, each with its option and source', () => {
  const found = problems({
    ...fileOf('lissten: x\nlimits: 3\nretry: {limitMs: -1}\nname: null'),
    env: { CARILLON_LOG_LEVEL: 'loud', CARILLON_NONSENSE: '1' },
  });
  expect(found).toEqual([
    'The option lissten in c.yaml is not known; did you mean listen?',
    'The option limits in c.yaml must hold an object of options.',
    expect.stringContaining('The option retry.limitMs in c.yaml must be a whole number from 0'),
    'The option logLevel (CARILLON_LOG_LEVEL) must be one of debug, info, warn, error, silent, not "loud".',
    'The environment variable CARILLON_NONSENSE is not known.',
  ]);
});

test('a file that cannot be read or parsed is one sentence', () => {
  const readFile = (): string => {
    throw new Error('ENOENT: no such file');
  };
  expect(problems({ flags: { config: 'x.yaml' }, readFile })).toEqual([
    'The configuration file x.yaml cannot be read: ENOENT: no such file',
  ]);
  expect(problems(fileOf('a: [1'))[0]).toContain('c.yaml cannot be read');
  expect(problems(fileOf('- 1'))[0]).toContain('must hold an object');
  expect(loaded(fileOf('')).config).toEqual(defaultConfig);
});

test('variables that container platforms and the client set are not options', () => {
  const env = {
    CARILLON_SERVICE_HOST: 'x',
    CARILLON_PORT_7253_TCP: 'tcp://',
    CARILLON_URL: 'http://x',
    CARILLON_NAME: '',
  };
  expect(problems({ env })).toEqual([]);
});

test('a bad secret is never repeated in the sentence about it', () => {
  const [sentence] = problems({ flags: { 'callbacks-signing-secrets': 'hunter2' } });
  expect(sentence).toContain('whsec_');
  expect(sentence).not.toContain('hunter2');
});

test('options that contradict each other are told', () => {
  const flags = {
    'limits-headers-timeout-ms': '40s',
    'limits-batch-body-bytes-max': '2KiB',
    'callbacks-timeout-ms-max': '1s',
    'retry-wait-ms-max': '10',
    'cluster-members-file': 'm.yaml',
    'cluster-etcd-endpoints': 'http://127.0.0.1:2379',
    'etcd-key': 'key.pem',
    'etcd-user': 'ada',
  };
  expect(problems({ flags })).toHaveLength(7);
});

test.each([
  [{ 'etcd-password': 'x' }, 'The option etcd.password needs etcd.user'],
  [{ 'etcd-password-file': 'f' }, 'The option etcd.passwordFile needs etcd.user'],
  [{ 'etcd-user': 'ada' }, 'The option etcd.user goes with a password'],
])('of etcd options %j the missing one is told', (flags, begins) => {
  expect(problems({ flags })).toEqual([expect.stringContaining(begins)]);
});

test.each([
  ['callback: {timeoutMs: 1s}', 'did you mean callbacks?'],
  ['cluster: {tsl: {key: k.pem}}', 'did you mean cluster.tls?'],
])('a group that is misspelt in a file has a near name: %s', (text, hint) => {
  expect(problems(fileOf(text))).toEqual([expect.stringContaining(hint)]);
});

test('a file cannot reach the prototype of anything', () => {
  expect(problems(fileOf('{"__proto__": {"listen": "x"}}'))).toHaveLength(1);
  expect(new Wrong('x')).not.toHaveProperty('listen');
});

test('an option three levels deep is named like every other', () => {
  const expected = { certificate: 'c.pem', key: 'k.pem', ca: 'a.pem' };
  const sources: ConfigSources[] = [
    fileOf('cluster: {tls: {certificate: c.pem, key: k.pem, ca: a.pem}}'),
    {
      flags: {
        'cluster-tls-certificate': 'c.pem',
        'cluster-tls-key': 'k.pem',
        'cluster-tls-ca': 'a.pem',
      },
    },
    {
      env: {
        CARILLON_CLUSTER_TLS_CERTIFICATE: 'c.pem',
        CARILLON_CLUSTER_TLS_KEY: 'k.pem',
        CARILLON_CLUSTER_TLS_CA: 'a.pem',
      },
    },
  ];
  for (const one of sources) expect(loaded(one).config.cluster.tls).toEqual(expected);
});

test('a part of the TLS files between members is refused: no member should run without TLS by mistake', () => {
  const flags = { 'cluster-tls-certificate': 'c.pem', 'cluster-tls-key': 'k.pem' };
  expect(problems({ flags })).toEqual([expect.stringContaining('give all three')]);
});

test('true and false are written as such', () => {
  const key = 'auth-insecure-no-auth';
  expect(loaded({ flags: { [key]: 'true' } }).config.auth.insecureNoAuth).toBe(true);
  expect(loaded(fileOf('auth: {insecureNoAuth: false}')).config.auth.insecureNoAuth).toBe(false);
  expect(problems({ flags: { [key]: 'yes' } })[0]).toContain('must be true or false, not "yes"');
});

test.each(['10.0.0.0/8:8080', '10.1.2.3:1', '[fd00::/8]:443', 'fd00::/8'])(
  'callbacks may be allowed to %s',
  (rule) => {
    expect(loaded({ flags: { 'callbacks-allow': rule } }).config.callbacks.allow).toEqual([rule]);
  },
);

test.each(['10.0.0.0/33', '10.0.0.0/8:99999', 'example.com', '1.2.3'])(
  'callbacks cannot be allowed to %s',
  (rule) => {
    expect(problems({ flags: { 'callbacks-allow': rule } })[0]).toContain('[fd00::/8]:8080');
  },
);

test('the way to a collector is an HTTP URL, with headers as in a file or a text, and a ratio', () => {
  const { telemetry } = loaded({
    flags: {
      'telemetry-endpoint': 'https://collector.example/otlp/',
      'telemetry-headers': 'x-key=a=b, x-other=c',
      'telemetry-sample-ratio': '0.05',
    },
  }).config;
  expect(telemetry).toMatchObject({
    endpoint: 'https://collector.example/otlp',
    headers: { 'x-key': 'a=b', 'x-other': 'c' },
    sampleRatio: 0.05,
  });
  const file = 'telemetry: { headers: { authorization: Basic abc }, sampleRatio: 0.5 }';
  expect(loaded(fileOf(file)).config.telemetry).toMatchObject({
    headers: { authorization: 'Basic abc' },
    sampleRatio: 0.5,
  });
  const wrong = {
    'telemetry-endpoint': ['collector:4318', 'http://u:p@collector/', 'http://collector/?a=b'],
    'telemetry-headers': ['x-key', '__proto__=x', 'a b=c'],
    'telemetry-sample-ratio': ['1.5', '-1', 'all', '1.2.3'],
  };
  for (const [flag, values] of Object.entries(wrong))
    for (const value of values)
      expect(problems({ flags: { [flag]: value } }), value).toHaveLength(1);
  const [secret = ''] = problems({ flags: { 'telemetry-headers': 'a b=geheim' } });
  expect(secret).not.toContain('geheim');
});
