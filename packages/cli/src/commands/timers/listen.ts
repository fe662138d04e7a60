/** `carillon listen`: a small receiver that shows pops as they arrive. For trying things out, not for production. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { formatDuration } from '@carillon/core';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { duration, type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { jsonLine, oneLine, paint, shorten } from '../../terminal/style.ts';

const kinds = {
  json: 'flag',
  port: 'text',
  host: 'text',
  status: 'text',
  delay: 'text',
  count: 'text',
} as const satisfies OptionKinds;

/** Bytes of a body that are shown; more than any member sends are not read. */
const shownBytesMax = 64 * 1024;

export interface Arrival {
  readonly at: string;
  readonly id: string;
  readonly sequence: number;
  readonly attempt: number;
  readonly missed: number;
  /** From due to arrival here, by this machine's clock; null: the callback did not say when it was due. */
  readonly latenessMs: number | null;
  readonly opaque: string;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly status: number;
  readonly delayMs: number;
  /** Stop after so many. */
  readonly countMax: number;
  /** The flag that names the port. */
  readonly portFlag: string;
}

export const command: Command = {
  name: 'listen',
  summary: 'A small receiver that prints pops as they arrive.',
  usage: `Usage: carillon listen [flags]

Prints for each callback its timer, sequence, attempt, how late it came, and its opaque.

  --port N           Default 8080; 0 takes any free one
  --host ADDRESS     Default 127.0.0.1
  --status N         Answer with this status; default 200
  --delay DURATION   Answer only after this long
  --count N          Stop after N callbacks
  --json             One JSON object a line`,
  examples: [
    'carillon listen',
    'carillon listen --port 8081 --status 500',
    'carillon listen --delay 2s --json',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    if (operands.length > 0)
      throw new UsageError(`"${operands[0]}" is too much here; --port names the port.`);
    const options: ListenOptions = {
      host: flags.host ?? '127.0.0.1',
      port: wholeNumber('--port', flags.port ?? '8080', { min: 0, max: 65_535 }),
      status: wholeNumber('--status', flags.status ?? '200', { min: 200, max: 599 }),
      delayMs: flags.delay === undefined ? 0 : duration('--delay', flags.delay),
      countMax: wholeNumber('--count', flags.count ?? '1000000000', { min: 1, max: 1_000_000_000 }),
      portFlag: '--port',
    };
    await listen(options, io.signal, {
      started: (url) => {
        if (flags.json) jsonLine(io, { listening: url });
        else io.err(`Listening at ${url} (Ctrl-C ends it).`);
      },
      arrived: (arrival) => {
        if (flags.json) jsonLine(io, arrivalJson(arrival));
        else io.out(arrivalText(arrival, io));
      },
    });
    return exit.done;
  },
};

export interface ListenEvents {
  started(url: string): void;
  arrived(arrival: Arrival): void;
}

/** Runs until the signal aborts or enough callbacks came. Rejects when the port is taken. */
export async function listen(
  options: ListenOptions,
  signal: AbortSignal,
  events: ListenEvents,
): Promise<void> {
  const { promise: over, resolve: stop } = Promise.withResolvers<void>();
  let count = 0;
  const server = createServer((request, response) => {
    const atMs = Date.now();
    readBody(request, (body) => {
      events.arrived(arrivalOf(request, body, atMs));
      count++;
      answer(response, options, () => {
        if (count >= options.countMax) stop();
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(portProblem(error, options), { cause: error })),
    );
    server.listen(options.port, options.host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : options.port;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  events.started(`http://${host}:${port}`);
  signal.addEventListener('abort', () => stop(), { once: true });
  if (signal.aborted) stop();
  await over;
  server.close();
  server.closeAllConnections();
}

function portProblem(error: NodeJS.ErrnoException, options: ListenOptions): string {
  const { host, port, portFlag } = options;
  if (error.code !== 'EADDRINUSE') return `Cannot listen at ${host}:${port}: ${error.message}.`;
  return `Port ${port} of ${host} is taken; ${portFlag} names another, ${portFlag} 0 takes any free one.`;
}

function answer(
  response: ServerResponse,
  { status, delayMs }: ListenOptions,
  sent: () => void,
): void {
  const send = (): void => {
    response.writeHead(status).end(sent);
  };
  if (delayMs === 0) send();
  else setTimeout(send, delayMs);
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  let kept = 0;
  request.on('data', (chunk: Buffer) => {
    if (kept < shownBytesMax) chunks.push(chunk);
    kept += chunk.length;
  });
  request.on('end', () => done(Buffer.concat(chunks).toString('utf8')));
}

function arrivalOf({ headers }: IncomingMessage, opaque: string, atMs: number): Arrival {
  const text = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : '';
  };
  const dueMs = Date.parse(text('x-timer-due'));
  return {
    at: new Date(atMs).toISOString(),
    id: text('x-timer-id') || '-',
    sequence: Number(text('x-sequence-number')) || 0,
    attempt: Number(text('x-timer-attempt')) || 0,
    missed: Number(text('x-timer-missed')) || 0,
    latenessMs: Number.isNaN(dueMs) ? null : atMs - dueMs,
    opaque,
  };
}

/** With the names that the API uses. */
export function arrivalJson({ latenessMs, ...arrival }: Arrival): object {
  return { ...arrival, 'lateness-ms': latenessMs };
}

export function arrivalText(arrival: Arrival, io: Io): string {
  const { at, id, sequence, attempt, missed, latenessMs, opaque } = arrival;
  const late = latenessMs === null ? 'no due time' : `${formatDuration(latenessMs)} late`;
  return [
    paint(io, 'dim', at.slice(11, 23)),
    paint(io, 'cyan', oneLine(id)),
    `pop ${sequence}`,
    attempt > 1 ? paint(io, 'yellow', `attempt ${attempt}`) : '',
    missed > 0 ? paint(io, 'yellow', `${missed} missed`) : '',
    paint(io, (latenessMs ?? 0) > 100 ? 'yellow' : 'green', late),
    shorten(oneLine(opaque), 100),
  ]
    .filter((part) => part !== '')
    .join('  ');
}
