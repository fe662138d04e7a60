/** The permission of a token. Each scope includes the ones before it. */

export const scopes = ['read', 'write', 'admin'] as const;

/** read: look at timers and members. write: set, cancel, send again. admin: orders to members, such as a drain. */
export type Scope = (typeof scopes)[number];

export function allows(has: Scope, needs: Scope): boolean {
  return scopes.indexOf(has) >= scopes.indexOf(needs);
}

export function scopeNamed(name: unknown): Scope | null {
  return scopes.find((scope) => scope === name) ?? null;
}
