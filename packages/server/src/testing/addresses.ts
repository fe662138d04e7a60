/** Receivers of a test member by the addresses that they were given under. */
import { refuseUnless, shown } from '@carillon/core';

/** A receiver, as `receiver(…)` of the client library makes it. */
export type Receive = (request: Request) => Response | Promise<Response>;

interface Addressed {
  readonly address: string;
  readonly origin: string;
  /** Without a slash at its end: empty for all paths of the origin. */
  readonly path: string;
  readonly receive: Receive;
}

/** Which receiver a callback goes to: the one with the longest address that its uri begins with; null: none. */
export type ReceiverOf = (uri: string) => Receive | null;

/** Throws TypeError for an address or a receiver that is none, and for one address written in two ways. */
export function receiversByAddress(receivers: Readonly<Record<string, Receive>>): ReceiverOf {
  const isObject = typeof receivers === 'object' && receivers !== null;
  refuseUnless(isObject, 'receivers', 'an object of functions by address', receivers);
  const known = Object.entries(receivers).map(addressed);
  for (const [i, one] of known.entries()) {
    const same = known.slice(0, i).find((other) => fits(other, one) && fits(one, other));
    if (same === undefined) continue;
    throw new TypeError(
      `The receivers ${shown(same.address)} and ${shown(one.address)} have the same address.`,
    );
  }
  const longestFirst = known.toSorted((a, b) => b.path.length - a.path.length);
  return (uri) => {
    const { origin, pathname: path } = new URL(uri);
    return longestFirst.find((one) => fits(one, { origin, path }))?.receive ?? null;
  };
}

function addressed([address, receive]: [string, Receive]): Addressed {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isAddress =
    url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  const right = "the beginning of a URL such as 'http://shop.test' or 'http://shop.test/orders'";
  refuseUnless(isAddress, 'The address of a receiver', right, address);
  const isFunction = typeof receive === 'function';
  const form = 'a function from Request to Response, as receiver(…) makes it';
  refuseUnless(isFunction, `The receiver ${shown(address)}`, form, receive);
  const { origin, pathname } = url as URL;
  let path = pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  return { address, origin, path, receive };
}

function fits(
  one: Pick<Addressed, 'origin' | 'path'>,
  called: Pick<Addressed, 'origin' | 'path'>,
): boolean {
  return one.origin === called.origin && `${called.path}/`.startsWith(`${one.path}/`);
}
