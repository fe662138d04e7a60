/**
 * The OpenAPI document of a member as the reference reads it: operations in groups, each with all that is said of it.
 * Pure.
 */

/** The keywords of a JSON schema that the reference shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

interface Content {
  readonly [type: string]: { readonly schema: Schema; readonly example?: unknown };
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface DocumentOperation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<
    Record<string, { readonly parameters?: readonly Parameter[] } & Record<string, unknown>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Answer {
  readonly status: string;
  readonly description: string;
  readonly schema: Schema | null;
}

export interface Operation {
  /** For links: `get-timers-id`. */
  readonly anchor: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The scope that a token must have; null: no token is needed. */
  readonly needs: string | null;
  readonly parameters: readonly Parameter[];
  readonly body: {
    readonly type: string;
    readonly schema: Schema;
    readonly example: unknown;
  } | null;
  readonly answers: readonly Answer[];
}

export interface Group {
  readonly title: string;
  readonly operations: readonly Operation[];
}

const verbs = ['get', 'post', 'put', 'delete'];
const titles: Readonly<Record<string, string>> = {
  timers: 'Timers',
  'dead-letters': 'Dead letters',
  cluster: 'Cluster',
  locks: 'Locks',
};
const otherTitle = 'The member itself';

/** In the order of the document; operations about no particular resource come last. */
export function groupsOf(document: Document): Group[] {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    verbs.flatMap((verb) => {
      const operation = item[verb] as DocumentOperation | undefined;
      return operation === undefined ? [] : [operationOf(verb, path, operation, item.parameters)];
    }),
  );
  const groups = Map.groupBy(all, ({ path }) => titles[path.split('/')[1] ?? ''] ?? otherTitle);
  return [...groups]
    .map(([title, operations]) => ({ title, operations }))
    .toSorted((a, b) => Number(a.title === otherTitle) - Number(b.title === otherTitle));
}

function operationOf(
  verb: string,
  path: string,
  operation: DocumentOperation,
  shared: readonly Parameter[] = [],
): Operation {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const needs = operation.security?.[0]?.['token']?.[0] ?? null;
  return {
    anchor: `${verb}${path.replaceAll(/[^a-z]+/g, '-').replace(/-$/, '')}`,
    method: verb.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description ?? '',
    needs,
    parameters: [...shared, ...(operation.parameters ?? [])],
    body:
      type === undefined || content === undefined
        ? null
        : { type, schema: content.schema, example: content.example },
    answers: Object.entries(operation.responses).map(
      ([status, { description, content: sent }]) => ({
        status,
        description,
        schema: Object.values(sent ?? {})[0]?.schema ?? null,
      }),
    ),
  };
}

/** The operations in which every word is found, in their groups. */
export function search(groups: readonly Group[], text: string): Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (operation: Operation): boolean => {
    const names = operation.parameters.map(({ name }) => name).join(' ');
    const { method, path, summary, description, needs } = operation;
    const all = `${method} ${path} ${summary} ${description} ${needs ?? ''} ${names}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return groups
    .map(({ title, operations }) => ({ title, operations: operations.filter(fits) }))
    .filter(({ operations }) => operations.length > 0);
}

/** A request that works as it stands once the words in capitals are replaced. */
export function curlOf(operation: Operation, origin: string, withToken: boolean): string {
  const { method, path, parameters, body, needs } = operation;
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name }) => `${name}=${name.toUpperCase()}`)
    .join('&');
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  const url = `${origin}${target}${query === '' ? '' : `?${query}`}`;
  const lines = [
    `curl${method === 'GET' || (method === 'POST' && body !== null) ? '' : ` -X ${method}`} '${url}'`,
  ];
  if (withToken && needs !== null) lines.push(`-H "Authorization: Bearer $CARILLON_TOKEN"`);
  if (body !== null && body.example !== undefined) {
    lines.push(`-d '${JSON.stringify(body.example)}'`);
  }
  return lines.join(' \\\n  ');
}

/** Follows a reference; a schema that is none is itself. */
export function resolved(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (schemas[name] ?? schema);
}

/** The kind of a schema's values, in a few words. */
export function kindOf(schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return name;
  if (schema.anyOf !== undefined) {
    return [...new Set(schema.anyOf.map((one) => kindOf(one)))].join(' or ');
  }
  if (schema.enum !== undefined)
    return schema.enum.map((value) => JSON.stringify(value)).join(', ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'array')
    return `array of ${schema.items === undefined ? 'anything' : kindOf(schema.items)}`;
  return `${schema.type ?? 'anything'}${rangeOf(schema)}`;
}

function rangeOf({ minimum, maximum, maxLength }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, at least ${minimum}`;
  if (maxLength !== undefined) return `, at most ${maxLength} characters`;
  return '';
}

/** The members of an object, or of the objects of a list; empty where there are none. */
export function fieldsOf(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
): { readonly name: string; readonly schema: Schema; readonly required: boolean }[] {
  const whole = resolved(schema, schemas);
  if (whole.items !== undefined) return fieldsOf(whole.items, schemas);
  if (whole.anyOf !== undefined) return whole.anyOf.flatMap((one) => fieldsOf(one, schemas));
  return Object.entries(whole.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    required: whole.required?.includes(name) ?? false,
  }));
}
