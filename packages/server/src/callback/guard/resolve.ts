/**
 * Names to addresses, so that a name server that does not answer holds up no other name.
 *
 * The system's own lookup blocks one of the few threads that also sync the journal; a handful of names
 * with dead name servers would stop the member. Names with a dot are therefore asked of DNS directly, which
 * needs no thread. Only names that DNS does not know, and names without a dot, go to the system (hosts file, search
 * list), two at a time.
 */
import { lookup, Resolver } from 'node:dns';

/** Calls `done` once: with addresses, or with an empty list when there are none. */
export type Resolve = (name: string, done: (addresses: readonly string[]) => void) => void;

const systemCountMax = 2;
const waitingCountMax = 1000;
/** Answers of a DNS that is sure, or not there at all; any other failure would meet the system too. */
const askSystem = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/** `servers`: name servers, such as 127.0.0.1:5353, instead of the system's. */
export function systemResolve(servers: readonly string[] = []): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const system = limited(systemCountMax, systemLookup);
  return coalesced((name, done) => {
    if (!name.includes('.')) system(name, done);
    else {
      askDns(resolver, name, (addresses, unknown) => {
        if (unknown) system(name, done);
        else done(addresses);
      });
    }
  });
}

/** Asks for addresses of both families at once; one of them is enough. */
function askDns(
  resolver: Resolver,
  name: string,
  done: (addresses: readonly string[], unknown: boolean) => void,
): void {
  const found: string[] = [];
  let open = 2;
  let unknown = true;
  const one = (error: NodeJS.ErrnoException | null, addresses: string[]): void => {
    if (error === null) found.push(...addresses);
    else if (!askSystem.has(error.code ?? '')) unknown = false;
    if (--open === 0) done(found, unknown && found.length === 0);
  };
  resolver.resolve4(name, one);
  resolver.resolve6(name, one);
}

const systemLookup: Resolve = (name, done) => {
  lookup(name, { all: true }, (error, addresses) => {
    done(error === null ? addresses.map(({ address }) => address) : []);
  });
};

/** Several askers of one name share one question. */
export function coalesced(resolve: Resolve): Resolve {
  const waiting = new Map<string, ((addresses: readonly string[]) => void)[]>();
  return (name, done) => {
    const others = waiting.get(name);
    if (others !== undefined) {
      others.push(done);
      return;
    }
    const all = [done];
    waiting.set(name, all);
    resolve(name, (addresses) => {
      waiting.delete(name);
      for (const one of all) one(addresses);
    });
  };
}

/** At most `countMax` questions at a time; the rest wait, and beyond the longest queue get no addresses. */
export function limited(countMax: number, resolve: Resolve): Resolve {
  const waiting: [string, (addresses: readonly string[]) => void][] = [];
  let open = 0;
  const next = (): void => {
    const first = open < countMax ? waiting.shift() : undefined;
    if (first === undefined) return;
    const [name, done] = first;
    open++;
    resolve(name, (addresses) => {
      open--;
      next();
      done(addresses);
    });
  };
  return (name, done) => {
    if (waiting.length >= waitingCountMax) {
      done([]);
      return;
    }
    waiting.push([name, done]);
    next();
  };
}
