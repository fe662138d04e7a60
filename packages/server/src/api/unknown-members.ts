/**
 * Members of a timer's body that the schema does not have. They have no effect, as in Chronos; the client is told of
 * them, or refused where its namespace is strict. Runs for every set: bodies without such members cost a look at each
 * name.
 */
import { nearestWord } from '@carillon/core';
import { badRequest } from '../http/problem.ts';
import { TimerBodySchema } from './schema/timer.ts';

export interface UnknownMember {
  readonly pointer: string;
  /** The pointer of the member that was probably meant; null: none is near. */
  readonly near: string | null;
}

/** More are not told: one is enough to look at the body. */
const toldMax = 4;
const toldLengthMax = 200;
const slipsMax = 4;

/** The members that an object may have, and the shapes below them. Only shapes with fixed names are in it. */
interface Shape {
  readonly pointer: string;
  readonly names: ReadonlyMap<string, Shape | null>;
}

const root = shapeOf(TimerBodySchema.properties, '');
const everywhere = pointersOf(root);

/** Whether a body that fits the schema has members without effect. */
export function hasUnknown(body: unknown, shape = root): boolean {
  if (typeof body !== 'object' || body === null) return false;
  for (const name in body) {
    const below = shape.names.get(name);
    if (below === undefined) return true;
    if (below !== null && hasUnknown((body as Record<string, unknown>)[name], below)) return true;
  }
  return false;
}

/** The unknown members of a body that fits the schema; `base` is the beginning of their pointers. */
export function unknownMembers(body: unknown, base = ''): UnknownMember[] {
  const found: string[] = [];
  collect(body, root, found);
  return found.map((pointer) => {
    const near = nearestTo(pointer);
    return { pointer: base + pointer, near: near === null ? null : base + near };
  });
}

/** Throws CarillonError for a body with such a member. */
export function refuseUnknown(body: unknown): void {
  const [first] = unknownMembers(body);
  if (first !== undefined) throw badRequest(sentenceOf(first), first.pointer);
}

/** A sentence about the first such member; null: all are known. */
export function unknownSentence(body: unknown, base: string): string | null {
  const [first] = unknownMembers(body, base);
  return first === undefined ? null : sentenceOf(first);
}

/** A sentence about an unknown member that was probably meant to be the missing one, or one below it; else nothing. */
export function slipFor(body: unknown, missing: string): string {
  const slip = unknownMembers(body).find(
    ({ near }) => near === missing || near?.startsWith(`${missing}/`) === true,
  );
  return slip === undefined ? '' : ` ${sentenceOf(slip)}`;
}

function sentenceOf(one: UnknownMember): string {
  return `A timer has no member ${one.pointer}.${hint(one)}`;
}

/** A header for the answer; none where all members are known. */
export function warningHeaders(unknown: readonly UnknownMember[]): string[] {
  const said = (one: UnknownMember): string =>
    asHeader(`A timer has no member ${one.pointer}, it has no effect.${hint(one)}`);
  return unknown.slice(0, toldMax).flatMap((one) => ['carillon-warning', said(one)]);
}

function hint({ near }: UnknownMember): string {
  return near === null ? '' : ` Did you mean ${near}?`;
}

/** Names come from the client: everything but printable ASCII is replaced, and long names are cut. */
function asHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, toldLengthMax);
}

function collect(value: unknown, shape: Shape, found: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const name in value) {
    const below = shape.names.get(name);
    if (below === undefined) {
      if (found.length < toldMax) found.push(`${shape.pointer}/${escaped(name)}`);
    } else if (below !== null) collect((value as Record<string, unknown>)[name], below, found);
  }
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The same name at its right place; else a name beside it that is almost the same; else one anywhere. */
function nearestTo(pointer: string): string | null {
  const cut = pointer.lastIndexOf('/');
  const name = pointer.slice(cut + 1).replaceAll('_', '-');
  const moved = everywhere.find((known) => known.endsWith(`/${name.toLowerCase()}`));
  if (moved !== undefined) return moved;
  const beside = everywhere.filter(
    (known) => known.lastIndexOf('/') === cut && known.startsWith(pointer.slice(0, cut + 1)),
  );
  return named(name, beside) ?? named(name, everywhere);
}

function named(name: string, pointers: readonly string[]): string | null {
  const names = pointers.map(nameOf);
  const near = nearestWord(
    name,
    names,
    Math.min(slipsMax, Math.max(1, Math.floor(name.length / 3))),
  );
  return near === null ? null : (pointers[names.indexOf(near)] ?? null);
}

function nameOf(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf('/') + 1);
}

function shapeOf(properties: Properties, pointer: string): Shape {
  const names = Object.entries(properties).map(([name, schema]): [string, Shape | null] => {
    const below = propertiesOf(schema);
    return [name, below === null ? null : shapeOf(below, `${pointer}/${name}`)];
  });
  return { pointer, names: new Map(names) };
}

type Properties = Readonly<Record<string, object>>;

/** null: not an object with fixed names. */
function propertiesOf(schema: object): Properties | null {
  return 'properties' in schema ? (schema.properties as Properties) : null;
}

function pointersOf({ pointer, names }: Shape): string[] {
  return [...names].flatMap(([name, below]) => [
    `${pointer}/${name}`,
    ...(below === null ? [] : pointersOf(below)),
  ]);
}
