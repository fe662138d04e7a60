/**
 * Errors of the operating system, of sockets and of gRPC as people say them. Read by index, not by regular expressions:
 * texts of errors may come from outside.
 */

/** Node's words before `SYSCALL 'PATH'`, and plain words about the path instead. */
const ofFiles: Readonly<Record<string, (path: string) => string>> = {
  'ENOENT: no such file or directory, mkdir ': (path) => `no folder ${path} can be created there`,
  'ENOENT: no such file or directory, ': (path) => `there is no file or folder ${path}`,
  'EACCES: permission denied, ': (path) => `this user may not open ${path}`,
  'EPERM: operation not permitted, ': (path) => `this user may not open ${path}`,
  'EISDIR: illegal operation on a directory, ': (path) => `${path} is a folder, not a file`,
  'EROFS: read-only file system, ': (path) => `${path} is on a read-only file system`,
  'ENOTDIR: not a directory, ': (path) => `a part of the path ${path} is a file, not a folder`,
};

/** Node's words before an address or host name, and plain words about it instead. */
const ofAddresses: Readonly<Record<string, (address: string) => string>> = {
  'listen EADDRINUSE: address already in use ': (address) =>
    `${address} is taken by another program`,
  'listen EADDRNOTAVAIL: address not available ': (address) =>
    `this machine has no address ${address}`,
  'listen EACCES: permission denied ': (address) => `this user may not listen at ${address}`,
  'connect ECONNREFUSED ': () => 'connection refused',
  'connect ETIMEDOUT ': () => 'no answer in time',
  'connect EHOSTUNREACH ': () => 'no way to this host',
  'getaddrinfo ENOTFOUND ': (host) => `no host is called ${host}`,
  'getaddrinfo EAI_AGAIN ': (host) => `no host is called ${host}`,
};

const fixed: Readonly<Record<string, string>> = {
  'EISDIR: illegal operation on a directory, read': 'it is a folder, not a file',
  'read ECONNRESET': 'connection cut off',
  'write ECONNRESET': 'connection cut off',
};

/** The same sentence without names of system calls, error codes and gRPC methods; its first letter is a capital one. */
export function inPlainWords(text: string): string {
  let said = withoutGrpc(text);
  for (const [begins, say] of Object.entries(ofFiles)) said = replaced(said, begins, say, quoted);
  for (const [begins, say] of Object.entries(ofAddresses)) said = replaced(said, begins, say, word);
  for (const [raw, plain] of Object.entries(fixed)) said = said.replaceAll(raw, plain);
  if (said === text) return text;
  const whole = '.!?)'.includes(said.at(-1) ?? '') ? said : `${said}.`;
  return whole.startsWith('etcd ') || whole.startsWith('carillon')
    ? whole
    : whole.charAt(0).toUpperCase() + whole.slice(1);
}

/** A part of a text, and where it ends. */
interface Part {
  readonly text: string;
  readonly end: number;
}

function replaced(
  text: string,
  begins: string,
  say: (part: string) => string,
  read: (text: string, from: number) => Part | null,
): string {
  const start = text.indexOf(begins);
  const part = start === -1 ? null : read(text, start + begins.length);
  return part === null ? text : text.slice(0, start) + say(part.text) + text.slice(part.end);
}

/** The path of `open '/path'`. */
function quoted(text: string, from: number): Part | null {
  const start = text.indexOf("'", from);
  const end = start === -1 ? -1 : text.indexOf("'", start + 1);
  return end === -1 ? null : { text: text.slice(start + 1, end), end: end + 1 };
}

/** Up to a space, a bracket or the end of the sentence. */
function word(text: string, from: number): Part {
  let end = from;
  while (end < text.length && !' ),;'.includes(text.charAt(end))) end++;
  if (text.charAt(end - 1) === '.') end--;
  return { text: text.slice(from, end), end };
}

const stream = 'The pending stream has been canceled';
const causedBy = ' (caused by: ';

/** `etcd URL /etcdserverpb.SERVICE/METHOD: …` without the method. */
function withoutGrpc(text: string): string {
  const method = text.indexOf(' /etcdserverpb.');
  const colon = method === -1 ? -1 : text.indexOf(': ', method);
  if (colon === -1) return text;
  const rest = text.slice(colon + 2);
  const asked = text.slice(0, method).replace('etcd ', 'etcd at ');
  if (!rest.startsWith(stream)) return `${asked}: ${rest}`;
  return `${asked} does not answer${rest.slice(stream.length).replace(causedBy, ' (')}`;
}

/** Whether a file that the command line names is not there, or is not one that this user can open. */
export function isWrongFile(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (syscall === 'listen' || syscall === 'connect') return false;
    if (['ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES', 'EROFS'].includes(code ?? '')) return true;
  }
  return false;
}
