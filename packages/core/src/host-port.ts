/** Addresses as one text, `host:port`; an IPv6 host stands in brackets: `10.0.0.7:7253`, `[::1]:7253`. */
export interface HostPort {
  /** Without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

const form = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/;

/** null: the text is no address. */
export function parseHostPort(text: string): HostPort | null {
  const match = form.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return null;
  return { host: match[1] ?? match[2] ?? '', port };
}

/** For an address that was checked before. Throws where the text is none. */
export function splitHostPort(text: string): HostPort {
  const split = parseHostPort(text);
  if (split === null) throw new TypeError(`"${text}" is not host:port, such as 127.0.0.1:7253.`);
  return split;
}

export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
