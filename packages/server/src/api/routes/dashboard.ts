/**
 * The dashboard at `/` and the API reference at `/docs`: static files that were built beforehand, and the events they
 * show. Nothing is loaded from anywhere else, and the headers see to it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CarillonError } from '@carillon/core';
import type { Metrics } from '../../metrics/metrics.ts';
import { accepts } from '../../http/accept.ts';
import { EventStream, type EventStreamOptions } from './events.ts';
import { type ApiRequest, type ApiResponse, headerOf } from '../../http/message.ts';
import type { Route } from '../router.ts';
import type { MemberControl } from '../../request/service.ts';

/** `dist/dashboard` of this package: the same path from the sources and from the built files. */
const builtFolder = join(import.meta.dirname, '../../../dist/dashboard');

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const security = [
  'content-security-policy',
  policy,
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cross-origin-resource-policy',
  'same-origin',
  'permissions-policy',
  'camera=(), geolocation=(), microphone=()',
  'vary',
  'accept-encoding',
];

interface File {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

export interface DashboardOptions extends Omit<EventStreamOptions, 'control' | 'metrics'> {
  /** Where the built files are; default: where the build puts them. */
  readonly folder?: string;
}

export class Dashboard {
  private readonly options: DashboardOptions;
  private readonly pages: ReadonlyMap<string, File>;
  private readonly assets: ReadonlyMap<string, File>;
  private events: EventStream | null = null;

  constructor(options: DashboardOptions) {
    this.options = options;
    const folder = options.folder ?? builtFolder;
    this.pages = filesIn(folder);
    this.assets = filesIn(join(folder, 'dashboard'));
  }

  /** To be given to the router of a member, once. */
  readonly routes = (control: MemberControl, metrics: Metrics): Route[] => {
    const events = new EventStream({ ...this.options, control, metrics });
    this.events = events;
    return [
      {
        method: 'GET',
        path: '/',
        needs: null,
        handle: (request) => this.page(request, 'index.html'),
      },
      {
        method: 'GET',
        path: '/docs',
        needs: null,
        handle: (request) => this.page(request, 'docs.html'),
      },
      {
        method: 'GET',
        path: '/dashboard/:id',
        needs: null,
        handle: (request, name) => this.asset(request, name),
      },
      events.route,
      events.samplesRoute,
    ];
  };

  start(): void {
    this.events?.start();
  }

  stop(): void {
    this.events?.stop();
  }

  private page(request: ApiRequest, name: string): ApiResponse {
    const file = this.pages.get(name);
    if (file !== undefined) return fileResponse(request, file, 'no-cache');
    throw new CarillonError(
      'not_found',
      'The dashboard is not built here: npm run dashboard builds it. The API is described at /openapi.json.',
    );
  }

  private asset(request: ApiRequest, name: string): ApiResponse {
    const file = this.assets.get(name);
    if (file === undefined) {
      throw new CarillonError('not_found', 'The dashboard has no such file; load / again.');
    }
    // The names of these files carry a hash of their content.
    return fileResponse(request, file, 'public, max-age=31536000, immutable');
  }
}

/** By name; none where there is no such folder. */
function filesIn(folder: string): ReadonlyMap<string, File> {
  const files = new Map<string, File>();
  for (const name of namesIn(folder)) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined) continue;
    const plain = readFileSync(join(folder, name));
    files.set(name, { type, plain, zipped: gzipSync(plain, { level: 9 }) });
  }
  return files;
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function fileResponse(request: ApiRequest, file: File, caching: string): ApiResponse {
  const zip = accepts(headerOf(request, 'accept-encoding'), 'gzip');
  const bytes = zip ? file.zipped : file.plain;
  const headers = [
    'content-type',
    file.type,
    'content-length',
    String(bytes.length),
    'cache-control',
    caching,
    ...security,
    ...(zip ? ['content-encoding', 'gzip'] : []),
  ];
  return {
    status: 200,
    headers,
    body: '',
    stream: (out) => {
      out.write(bytes);
      out.end();
    },
  };
}
