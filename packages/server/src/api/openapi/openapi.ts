/** The OpenAPI 3.1 description of the API; shapes come from `schema/`. */
import type { Route } from '../router.ts';
import { deadLetterPaths } from './dead-letters.ts';
import { historyPaths } from './history.ts';
import { operatingPaths } from './operating.ts';
import { problem, schemas, versionPattern } from './parts.ts';
import { askedPaths, attemptPaths, timerPaths } from './timers.ts';

const namespaceHeader = {
  name: 'Carillon-Namespace',
  in: 'header',
  schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9._-]{0,63}$', default: 'default' },
  description: 'The namespace of the request; a token that is bound to one needs no word.',
};

const seenHeader = {
  name: 'Carillon-Seen',
  in: 'header',
  schema: { type: 'string', pattern: versionPattern },
  description:
    'The highest version the client has seen: this change gets a higher one. At most a day ahead of the clock of the member, else 400.',
};

interface Operation {
  readonly parameters?: readonly object[];
  readonly responses: Readonly<Record<string, object>>;
}

/** Adds to an operation the scope that its route needs, and the answers to callers with less. */
function guarded(operation: Operation, needs: Route['needs']): object {
  if (needs === null) return { ...operation, security: [] };
  const common = needs === 'write' ? [namespaceHeader, seenHeader] : [namespaceHeader];
  return {
    ...operation,
    security: [{ token: [needs] }],
    parameters: [...(operation.parameters ?? []), ...common],
    responses: {
      ...operation.responses,
      ...(needs === 'write' && {
        '400': operation.responses['400'] ?? problem('A header is not valid.'),
      }),
      '401': problem('There is no token, or it is not valid.'),
      '403': problem(`The token does not have the scope "${needs}", or is for another namespace.`),
      '429': operation.responses['429'] ?? problem('Too many requests of this caller.'),
    },
  };
}

function pathsOf(routes: readonly Route[]): object {
  const needs = new Map(routes.map((route) => [`${route.method} ${route.path}`, route.needs]));
  const all: Record<string, object> = {
    ...timerPaths,
    ...attemptPaths,
    ...askedPaths,
    ...deadLetterPaths,
    ...historyPaths,
    ...operatingPaths,
  };
  return Object.fromEntries(
    Object.entries(all).map(([path, item]) => {
      const routePath = path.replace('{id}', ':id');
      const operations = Object.entries(item).map(([verb, operation]: [string, unknown]) => {
        const scope = needs.get(`${verb.toUpperCase()} ${routePath}`);
        return [verb, scope === undefined ? operation : guarded(operation as Operation, scope)];
      });
      return [path, Object.fromEntries(operations)];
    }),
  );
}

/** `routes` tell which scope each operation needs. */
export function openApi(version: string, routes: readonly Route[]): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Carillon',
      version,
      description: 'Clustered timers: HTTP in, HTTP callbacks out.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/', description: 'The member that gave this document; any other will do too.' },
    ],
    paths: pathsOf(routes),
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token made by `carillon token create`. Its scope is read, write or admin, each including the ones before. A member without tokens asks for none.',
        },
      },
    },
  };
}
