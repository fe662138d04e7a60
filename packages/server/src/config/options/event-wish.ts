/** The events that a namespace wants to be told of, and where. `namespaces.NAME.events` of the configuration. */
import type { CallbackForm } from '@carillon/core';
import { splitUri } from '../../callback/uri.ts';
import { choice, type Kind, list, Wrong } from './kinds.ts';

/** Events of the namespace's own timers and letters: told unless the wish names other kinds. */
const ownKinds = [
  'dead-letter',
  'letter-dropped',
  'letter-box-nearly-full',
  'destination-failing',
  'destination-well',
] as const;

/** Events of the cluster and its members: told to namespaces that name them. */
const clusterKinds = ['copies-missing', 'damage-found', 'disk-nearly-full'] as const;

export const eventKinds = [...ownKinds, ...clusterKinds] as const;

export type EventKind = (typeof eventKinds)[number];

export interface EventWish {
  readonly uri: string;
  readonly kinds: readonly EventKind[];
  readonly form: CallbackForm;
}

const uriLengthMax = 4096;

const uri: Kind<string> = (raw) => {
  const isUsable = typeof raw === 'string' && raw.length <= uriLengthMax && splitUri(raw) !== null;
  return isUsable ? raw : new Wrong('an absolute http or https URI without credentials');
};

const kindsOf: Kind<readonly EventKind[]> = (raw) => {
  const named = list(choice(...eventKinds, 'all'))(raw);
  if (named instanceof Wrong) return named;
  return named.includes('all') ? eventKinds : (named as readonly EventKind[]);
};

const parts = { uri, kinds: kindsOf, form: choice('plain', 'cloudevents') } as const;

/** null: the namespace is told of nothing. */
export const eventWish: Kind<EventWish | null> = (raw) => {
  if (raw === null) return null;
  if (typeof raw !== 'object' || Array.isArray(raw)) return new Wrong(expected);
  const wish: { uri: string; kinds: readonly EventKind[]; form: CallbackForm } = {
    uri: '',
    kinds: ownKinds,
    form: 'plain',
  };
  for (const [name, given] of Object.entries(raw)) {
    if (!Object.hasOwn(parts, name)) return new Wrong(`${expected}, and ${name} is none of them`);
    const value = parts[name as keyof typeof parts](given);
    if (value instanceof Wrong) return new Wrong(`an object in which ${name} is ${value.expected}`);
    Object.assign(wish, { [name]: value });
  }
  return wish.uri === '' ? new Wrong(`${expected}, with a uri at least`) : wish;
};

const expected = `an object of ${Object.keys(parts).join(', ')}`;
