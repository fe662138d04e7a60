/** Tokens for tests: real ones, made of predictable bytes. */
import { newToken, type Token, tokenDigest } from '../access/token.ts';

export interface TestToken {
  readonly token: Token;
  /** The token as a client sends it. */
  readonly text: string;
  /** The headers of a request with it. */
  readonly headers: { readonly authorization: string };
}

export function testToken(number: number, fields: Partial<Token> = {}): TestToken {
  const { id, text } = newToken((length) => Buffer.alloc(length, number));
  const token: Token = {
    id,
    name: `token ${number}`,
    scope: 'admin',
    namespace: '*',
    digest: tokenDigest(text),
    created: '2026-01-01T00:00:00.000Z',
    until: null,
    ...fields,
  };
  return { token, text, headers: { authorization: `Bearer ${text}` } };
}
