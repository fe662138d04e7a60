/**
 * Checks on the files in `deploy/` that need no container engine and no cluster: they parse, every option, metric and
 * command they name exists, and the tools that are here find nothing wrong. deploy/README.md lists the parts that were
 * never run.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defaultConfig,
  eachOption,
  flagOf,
  loadConfig,
  startMember,
  variableOf,
} from '@carillon/server';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml, parseAllDocuments } from 'yaml';
import { Metrics } from '../packages/server/src/metrics/metrics.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const has = (tool: string): boolean =>
  spawnSync(tool, ['--help'], { stdio: 'ignore' }).status === 0;
type Json = Readonly<Record<string, unknown>>;

describe('metrics', () => {
  const rendered = new Metrics({ version: '0', runtime: 'test' }).render();
  const known = new Set([...rendered.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  const sources = readdirSync(join(root, 'packages/server/src'), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && path !== 'metrics.ts')
    .map((path) => read(`packages/server/src/${path}`))
    .join('\n');

  /** The expressions of a file, whichever it is. */
  function expressionsIn(value: unknown): string[] {
    if (Array.isArray(value)) return value.flatMap(expressionsIn);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) =>
      name === 'expr' && typeof inner === 'string' ? [inner] : expressionsIn(inner),
    );
  }

  const alerts = expressionsIn(parseYaml(read('deploy/prometheus/alerts.yaml')));
  const panels = expressionsIn(JSON.parse(read('deploy/grafana/carillon.json')));
  const series = [...alerts, ...panels].flatMap((expression) =>
    [...expression.matchAll(/\b((?:carillon|process)_[a-z_]+)(?:\{([^}]*)\})?/g)].map(
      ([, name = '', labels = '']) => ({ name, labels }),
    ),
  );

  test('there are alerts and panels', () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(panels.length).toBeGreaterThan(20);
  });

  test('panels and alerts tell clusters in one Prometheus apart', () => {
    for (const panel of panels) {
      const selectors = [...panel.matchAll(/\b(?:carillon|process)_[a-z_]+\{([^}]*)\}/g)];
      expect(selectors.length, panel).toBeGreaterThan(0);
      for (const [, labels] of selectors) expect(labels, panel).toContain('cluster=~"$cluster"');
    }
    for (const expression of [...alerts, ...panels]) {
      expect(expression).not.toMatch(/\bon \((?!job, instance, cluster\))|\bjob=/);
    }
  });

  test.each([...new Set(series.map(({ name }) => name))])('%s exists and is fed', (name) => {
    const family = name.replace(/_(bucket|sum|count)$/, '');
    expect(known).toContain(family);
    const line = read('packages/server/src/metrics/metrics.ts').split(`'${family}'`)[0] ?? '';
    const field = [...line.matchAll(/readonly (\w+) = this/g)].at(-1)?.[1] ?? '';
    expect(sources).toMatch(new RegExp(`\\b${field}\\b`));
  });

  test('label values that are compared with exist', () => {
    const compared = series.flatMap(({ name, labels }) =>
      [...labels.matchAll(/(result|state)=~?"([^"]+)"/g)].flatMap(([, label, values = '']) =>
        values.split('|').map((value) => ({ name, label, value })),
      ),
    );
    expect(compared.length).toBeGreaterThan(4);
    const metrics = new Metrics({ version: '0', runtime: 'test' });
    metrics.timers.read(() => ({ pending: 1, retrying: 1, dead: 1, tombstone: 1 }));
    const text = metrics.render();
    for (const { name, label, value } of compared) {
      expect(text).toMatch(new RegExp(`^${name}\\{.*${label}="${value}"`, 'm'));
    }
  });

  test('every alert says what to do, in a section of docs/operating.md that is there', () => {
    const { groups } = parseYaml(read('deploy/prometheus/alerts.yaml')) as {
      groups: { rules: { alert: string; for: string; annotations: Json }[] }[];
    };
    const anchors = [...read('docs/operating.md').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const rule of groups.flatMap(({ rules }) => rules)) {
      expect(rule.alert).toMatch(/^Carillon[A-Z]/);
      expect(rule.for).toMatch(/^\d+[mh]$/);
      const [, anchor = ''] = String(rule.annotations['runbook']).split('#');
      expect(anchors, rule.alert).toContain(anchor);
      expect(read('docs/operating.md'), rule.alert).toContain(`\`${rule.alert}\``);
    }
  });

  test.runIf(has('promtool'))(
    'promtool finds nothing, and series raise the alerts they should',
    () => {
      execFileSync('promtool', ['check', 'rules', join(root, 'deploy/prometheus/alerts.yaml')]);
      const tests = join(root, 'deploy/prometheus/alerts.test.yaml');
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', tests], {
        encoding: 'utf8',
      });
      expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    },
  );

  test('no rule depends on a job name, and sums over members keep clusters apart', () => {
    for (const expression of alerts) {
      expect(expression).not.toMatch(/job="/);
      expect(expression).not.toMatch(/\b(?:sum|max|min)\s*\(/);
      for (const [, by = ''] of expression.matchAll(/\b(?:sum|max|min) by \(([^)]*)\)/g)) {
        expect(by).toContain('cluster');
      }
    }
  });

  test('the chart has the same rules', () => {
    const file = 'deploy/helm/carillon/files/alerts.yaml';
    expect(read(file)).toBe(read('deploy/prometheus/alerts.yaml'));
  });
});

const deployed = [
  'deploy/Dockerfile',
  'deploy/compose.yaml',
  'deploy/carillon.service',
  'deploy/helm/carillon/templates/statefulset.yaml',
];

describe('options', () => {
  const variables = new Set(eachOption().map(({ key }) => variableOf(key)));
  const flags = new Set([...eachOption().map(({ key }) => flagOf(key)), 'config']);

  test.each(deployed)('%s names only variables and flags that exist', (path) => {
    const text = read(path);
    const named = [...text.matchAll(/\bCARILLON_[A-Z_]+/g)].map(([name]) => name);
    const ofClients = ['CARILLON_TOKEN'];
    const strange = (name: string): boolean => !variables.has(name) && !ofClients.includes(name);
    expect(named.filter((name) => strange(name) && !name.endsWith('_'))).toEqual([]);
    const serves = [...text.matchAll(/\bserve\b([^\n]*)/g)].map(([, rest = '']) => rest);
    const given = serves.flatMap((rest) => [...rest.matchAll(/--([a-z-]+)/g)]);
    expect(given.map(([, flag = '']) => flag).filter((flag) => !flags.has(flag))).toEqual([]);
  });

  test('deploy/carillon.yaml is a configuration', () => {
    const readFile = (path: string): string => read(path);
    expect(loadConfig({ flags: { config: 'deploy/carillon.yaml' }, readFile })).toMatchObject({
      ok: true,
    });
  });

  test('the members of compose.yaml are a cluster: accepted options, names and addresses of their own', () => {
    const { services } = parseYaml(read('deploy/compose.yaml'), { merge: true }) as {
      services: Record<string, { environment?: Record<string, string>; networks: Json }>;
    };
    const members = Object.entries(services).filter(([, { environment }]) => environment);
    expect(members.map(([name]) => name)).toEqual(['a', 'b', 'c']);
    for (const [name, { environment = {}, networks }] of members) {
      const loaded = loadConfig({ env: environment });
      if (!loaded.ok) throw new Error(loaded.problems.join(' '));
      const { listen, cluster } = loaded.config;
      const { ipv4_address: address } = networks['timers'] as { ipv4_address: string };
      expect(loaded.config.name).toBe(name);
      expect([listen, cluster.peerListen]).toEqual([`${address}:7253`, `${address}:7353`]);
    }
  });
});

describe('the unit for systemd', () => {
  const unit = read('deploy/carillon.service');

  test('grants more time to stop than a member takes', () => {
    const stopMs = 1000 * Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
    expect(stopMs).toBeGreaterThan(defaultConfig.shutdown.limitMs);
  });

  test('allows as many open files as the default limits need', () => {
    const { limits, callbacks } = defaultConfig;
    const files = Number(/^LimitNOFILE=(\d+)$/m.exec(unit)?.[1]);
    expect(files).toBeGreaterThan(limits.connectionCountMax + callbacks.inFlightMax);
  });

  test.runIf(has('systemd-analyze'))('systemd-analyze finds nothing wrong', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-unit-'));
    try {
      const path = join(folder, 'carillon.service');
      // The command is not installed here, and its absence is all that would be reported.
      writeFileSync(path, unit.replace('/usr/local/bin/carillon', '/bin/true'));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], {
        encoding: 'utf8',
      });
      expect(stderr.split('\n').filter((line) => line.includes('carillon.service'))).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the chart', () => {
  const folder = 'deploy/helm/carillon';
  const values = parseYaml(read(`${folder}/values.yaml`)) as Json;
  const templates = readdirSync(join(root, folder, 'templates')).map((name) => ({
    name,
    text: read(`${folder}/templates/${name}`),
  }));

  test.each(templates)('$name uses values that exist, and closes every block', ({ text }) => {
    for (const [, path = ''] of text.matchAll(/\.Values((?:\.\w+)+)/g)) {
      const found = path
        .slice(1)
        .split('.')
        .reduce<unknown>((inner, key) => (inner as Json | undefined)?.[key], values);
      expect(found, `.Values${path}`).toBeDefined();
    }
    const opened = [...text.matchAll(/\{\{-? *(if|with|range|define)\b/g)].length;
    expect([...text.matchAll(/\{\{-? *end\b/g)]).toHaveLength(opened);
    const defined = templates.flatMap((one) => [...one.text.matchAll(/define "([^"]+)"/g)]);
    for (const [, name = ''] of text.matchAll(/include "([^"]+)"/g)) {
      expect(defined.map(([, known]) => known)).toContain(name);
    }
  });

  /** The template without its actions: other than the output of Helm, but YAML with everything in its place. */
  function skeleton(text: string): Json {
    const plain = text.replace(/^ *\{\{-[^\n]*\}\}\n/gm, '').replace(/\{\{[^}]*\}\}/g, 'x');
    const [document, ...more] = parseAllDocuments(plain);
    if (document === undefined || !('errors' in document) || more.length > 0) {
      throw new Error('One document is expected.');
    }
    expect(document.errors).toEqual([]);
    return document.toJS() as Json;
  }

  test.each(templates.filter(({ name }) => name.endsWith('.yaml')))('$name is YAML', ({ text }) => {
    expect(skeleton(text)).toMatchObject({
      apiVersion: expect.any(String),
      kind: expect.any(String),
    });
  });

  test('a member drains before it ends, is probed, and writes only to its volume', () => {
    const text = templates.find(({ name }) => name === 'statefulset.yaml')?.text ?? '';
    const { spec } = skeleton(text) as { spec: { template: { spec: { containers: Json[] } } } };
    const [container] = spec.template.spec.containers;
    expect(container).toMatchObject({
      startupProbe: { httpGet: { path: '/livez' } },
      livenessProbe: { httpGet: { path: '/livez' } },
      readinessProbe: { httpGet: { path: '/readyz' } },
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      lifecycle: { preStop: { exec: { command: ['sh', '-c', expect.stringContaining('drain')] } } },
    });
    expect(text).toMatch(
      /terminationGracePeriodSeconds: \{\{ add \.Values\.drain\.limitSeconds 60/,
    );
  });

  test('its configuration is accepted by a member', () => {
    const readFile = (): string => JSON.stringify(values['config']);
    expect(loadConfig({ flags: { config: 'values' }, readFile })).toMatchObject({ ok: true });
  });

  test.runIf(has('helm'))('helm renders it', () => {
    const set = ['--set', 'etcd.endpoints={http://e:2379}', '--set', 'auth.secretName=s'];
    const given = ['template', 'x', join(root, folder), ...set];
    const documents = parseAllDocuments(execFileSync('helm', given, { encoding: 'utf8' }));
    expect(documents).toHaveLength(6);
    const watched = [
      ...given,
      '--set',
      'monitoring.serviceMonitor.enabled=true,monitoring.prometheusRule.enabled=true',
    ];
    expect(parseAllDocuments(execFileSync('helm', watched, { encoding: 'utf8' }))).toHaveLength(8);
  });
});

describe('the image', () => {
  const dockerfile = read('deploy/Dockerfile');

  test('is built by commands that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Json };
    for (const [, name = ''] of dockerfile.matchAll(/npm run ([a-z:-]+)/g)) {
      expect(Object.keys(scripts)).toContain(name);
    }
    const { bin } = JSON.parse(read('packages/cli/package.json')) as { bin: { carillon: string } };
    expect(dockerfile).toContain(join('packages/cli', bin.carillon));
  });

  test('does not run as root, and has one volume: where its data is', () => {
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect([...dockerfile.matchAll(/^VOLUME (.*)$/gm)].map(([, path]) => path)).toEqual(['/data']);
    expect(dockerfile).toContain('CARILLON_DATA=/data');
  });

  const [, command = ''] = /^ +CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [, ...given] = JSON.parse(command) as string[];
  const check = (port: number): Promise<number | null> =>
    exitCode(given, { CARILLON_LISTEN: `0.0.0.0:${port}` });

  async function checked(flags: Record<string, string>): Promise<number | null> {
    const loaded = loadConfig({
      flags: { listen: '127.0.0.1:0', durability: 'memory', 'log-level': 'silent', ...flags },
    });
    if (!loaded.ok) throw new Error(loaded.problems.join(' '));
    const running = await startMember({
      config: loaded.config,
      onFailed: () => {},
      onDrained: () => {},
    });
    try {
      return await check(Number(running.address.split(':').at(-1)));
    } finally {
      await running.stop();
    }
  }

  test('its health check tells a member that answers from one that does not', async () => {
    expect(await checked({})).toBe(0);
    expect(await check(await freePort())).toBe(1);
  });

  test.runIf(has('openssl'))('its health check knows a member that serves by HTTPS', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-health-'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    try {
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
      const subject = ['-subj', '/CN=timers.example', '-days', '1'];
      const files = ['-keyout', key, '-out', certificate];
      const made = ['req', '-x509', ...curve, ...subject, ...files];
      execFileSync('openssl', made, { stdio: 'ignore' });
      expect(await checked({ 'tls-certificate': certificate, 'tls-key': key })).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

function exitCode(given: readonly string[], env: Json): Promise<number | null> {
  const child = spawn(process.execPath, given, { stdio: 'ignore', env: env as NodeJS.ProcessEnv });
  return new Promise((resolve) => {
    child.once('exit', resolve);
  });
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
