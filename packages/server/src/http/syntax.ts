/** Which bytes HTTP/1.1 allows where (RFC 9110 §5, RFC 9112 §3), as tables by byte: one look tells. */

export const cr = 0x0d;
export const lf = 0x0a;
export const space = 0x20;
export const tab = 0x09;
export const colon = 0x3a;
export const semicolon = 0x3b;

function table(allowed: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    allowed.test(String.fromCharCode(byte)) ? 1 : 0,
  );
}

/** Methods and names of headers. */
export const tokenBytes = table(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/);
/**
 * Targets. Some of these should have been percent-encoded, but browsers send them as they are; a `#` never belongs
 * here, and bytes beyond ASCII are read differently by different servers.
 */
export const targetBytes = table(/[!-"$-~]/);
/** Values of headers, with the blanks in and around them. Bytes beyond ASCII mean nothing, but are allowed. */
export const valueBytes = table(/[\t -~\x80-\xff]/);

/** The value of a hexadecimal digit; -1 for all other bytes. */
export const hexValues = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = String.fromCharCode(byte);
  return /[0-9A-Fa-f]/.test(digit) ? Number.parseInt(digit, 16) : -1;
});

/** ASCII letters in lower case, all other bytes as they are. */
export const lowerBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
);

/** The first index from `from` on whose byte is not in the table. The caller knows that there is one before the end. */
export function skip(bytes: Uint8Array, from: number, allowed: Uint8Array): number {
  let at = from;
  while (allowed[bytes[at] as number] === 1) at++;
  return at;
}
