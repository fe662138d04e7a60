/** An OTLP/HTTP collector in the test: decodes the spans that arrive, and notes the names of metrics. */
import { createServer, type Server } from 'node:http';
import { type DecodedSpan, decodeSpans } from '../../../../packages/server/src/testing/otlp.ts';
import { listening } from '../listening.ts';

export interface Collector {
  readonly url: string;
  readonly spans: DecodedSpan[];
  /** By member and name. */
  readonly metrics: Set<string>;
  readonly keys: Set<string | undefined>;
  close(): void;
}

interface MetricsBody {
  readonly resourceMetrics: readonly {
    readonly resource: {
      readonly attributes: readonly {
        readonly key: string;
        readonly value: { readonly stringValue?: string };
      }[];
    };
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: DecodedSpan[] = [];
  const metrics = new Set<string>();
  const keys = new Set<string | undefined>();
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      keys.add(request.headers['x-key']?.toString());
      if (request.url === '/v1/traces') spans.push(...decodeSpans(body));
      if (request.url === '/v1/metrics') for (const name of namesIn(body)) metrics.add(name);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url, spans, metrics, keys, close };
}

function namesIn(body: string): string[] {
  const { resourceMetrics } = JSON.parse(body) as MetricsBody;
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const member = resource.attributes.find(({ key }) => key === 'service.instance.id');
    return scopeMetrics.flatMap((scope) =>
      scope.metrics.map(({ name }) => `${member?.value.stringValue} ${name}`),
    );
  });
}
