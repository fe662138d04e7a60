/** The address that others are told, where a member listens at more than one. */
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { formatHostPort, splitHostPort } from '@carillon/core';

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** `host:port` with an address that leads to this machine alone; as given where that is so, or where there is none. */
export function advertisedAddress(
  listen: string,
  machine: () => Interfaces = networkInterfaces,
): string {
  const { host, port } = splitHostPort(listen);
  if (host !== '0.0.0.0' && !/^[0:]+$/.test(host)) return listen;
  const outer = Object.values(machine())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address));
  const four = outer.find(({ family }) => family === 'IPv4');
  if (four !== undefined) return formatHostPort({ host: four.address, port });
  const [six] = host === '0.0.0.0' ? [] : outer;
  return six === undefined ? listen : formatHostPort({ host: six.address, port });
}
