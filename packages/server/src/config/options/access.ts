/** Options of authentication and of the callers that browsers send. */
import { list, optional, path, text, yesNo } from './kinds.ts';
import { option } from './option.ts';

export const auth = {
  tokens: option(
    null,
    optional(path),
    'File with the tokens that let clients in, as carillon token create writes it, and the key that the numbers of timers follow from; the same for all members. Read again when it changes and on SIGHUP. Not set: tokens.json in the data folder; without it and on loopback no client needs a token.',
  ),
  openMetrics: option(
    false,
    yesNo,
    'Whether GET /metrics is open without a token although other routes need one. It tells how much happens, but names no timer and no receiver. Otherwise Prometheus needs a token with the scope read.',
  ),
  insecureNoAuth: option(
    false,
    yesNo,
    'Start even if listeners beyond loopback have no authentication: the API without tokens, the peer port without a secret or TLS. For networks that keep strangers out.',
  ),
} as const;

export const access = {
  origins: option<readonly string[]>(
    [],
    list(text(/^https?:\/\/[a-z0-9.:[\]-]+$/, 'an origin such as https://app.example')),
    'Origins of web pages that may use the API from a browser, with CORS answers. Pages of all other origins are refused, with tokens or without. Wider: scripts of these pages have the permissions of their token, and without authentication all permissions.',
  ),
  hosts: option<readonly string[]>(
    [],
    list(text(/^[A-Za-z0-9.-]{1,253}$/, 'a host name')),
    'Names under which clients reach this member where no tokens are asked for, beside addresses, localhost, and the names in listen and advertise.api; requests under other names are 403. If any name were accepted, a web page whose name points here (DNS rebinding) could read all timers.',
  ),
} as const;
