/**
 * The session of the page: the token, in this tab only and gone with it, its scope, and the namespace in view. Every
 * request to the member takes its headers from `headersOf`.
 */
import { computed, signal } from '@preact/signals';

export interface Whoami {
  /** Whether this member asks for tokens. */
  readonly auth: boolean;
  readonly scope: string;
  /** The only one that the token is for; `*`: all of them. */
  readonly namespace: string;
  /** Name of the token; null without one. */
  readonly name: string | null;
}

/** asking: not known yet. in: may look. out: must log in first. */
export type Standing = 'asking' | 'in' | 'out';

const tokenKey = 'carillon-token';
const namespaceKey = 'carillon-namespace';
const everything: Whoami = { auth: false, scope: 'admin', namespace: '*', name: null };
const scopes = ['read', 'write', 'admin'];

export const standing = signal<Standing>('asking');
export const whoami = signal<Whoami>(everything);
/** Why the member wants to see a token, as it says it; null before the first try. */
export const refusedWhy = signal<string | null>(null);
/** Empty: the one that the member takes by itself. */
export const namespace = signal(kept(namespaceKey));
let token = kept(tokenKey);

/** Whether the token may write; without authentication every request may. */
export const mayWrite = computed(() => scopes.indexOf(whoami.value.scope) >= 1);
export const mayChooseNamespace = computed(() => whoami.value.namespace === '*');

/** The namespace whose timers are shown. */
export const presentNamespace = computed(() =>
  mayChooseNamespace.value ? namespace.value || 'default' : whoami.value.namespace,
);

export function headersOf(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    ...extra,
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    ...(namespace.value !== '' && { 'carillon-namespace': namespace.value }),
  };
}

/** Asks the member for the scope and namespace of this token. Rejects when the member does not answer. */
export async function introduce(): Promise<void> {
  const answer = await fetch('whoami', { headers: headersOf(), signal: AbortSignal.timeout(5000) });
  if (answer.status === 401 || answer.status === 403) return refuse(await reasonOf(answer));
  // A release without tokens does not know the question.
  if (answer.status !== 404 && !answer.ok) throw new Error(`The member answered ${answer.status}.`);
  whoami.value = answer.ok ? ((await answer.json()) as Whoami) : everything;
  refusedWhy.value = null;
  standing.value = 'in';
}

/** Tries a token: the member accepts it or refuses it with a reason. */
export async function logIn(given: string): Promise<void> {
  keep(tokenKey, given);
  token = given;
  chooseNamespace('');
  await introduce();
}

export function logOut(): void {
  keep(tokenKey, '');
  token = '';
  chooseNamespace('');
  refusedWhy.value = null;
  standing.value = 'out';
}

/** The member did not let a request in: without a token, or with one that is no longer valid. */
export function refuse(why: string): void {
  refusedWhy.value = token === '' ? null : why;
  keep(tokenKey, '');
  token = '';
  standing.value = 'out';
}

export function chooseNamespace(name: string): void {
  keep(namespaceKey, name);
  namespace.value = name;
}

/** The detail of a problem answer; else its status. */
export async function reasonOf(answer: Response): Promise<string> {
  return reasonIn(await problemOf(answer), answer.status);
}

export function reasonIn(problem: { readonly detail?: unknown }, status: number): string {
  return typeof problem.detail === 'string' ? problem.detail : `The member answered ${status}.`;
}

/** The members of a problem answer; none where the body is no problem. */
export async function problemOf(answer: Response): Promise<Record<string, unknown>> {
  try {
    return (await answer.json()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** A browser that keeps nothing for the page asks for the token again after a reload. */
function kept(key: string): string {
  try {
    return sessionStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

function keep(key: string, value: string): void {
  try {
    if (value === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // See `kept`.
  }
}
