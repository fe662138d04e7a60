/**
 * For tests of request smuggling: requests that servers read differently from the proxy in front of them, so that one
 * request hid another. Each has to be refused with its status, and nothing behind it may be taken for a request.
 */

/** The request that each attack tries to smuggle in. */
export const hidden = 'DELETE /timers?tag=hidden HTTP/1.1\r\nhost: localhost\r\n\r\n';

export interface Attack {
  readonly name: string;
  /** Latin-1. */
  readonly text: string;
  readonly status: number;
}

function attack(name: string, text: string, status = 400): Attack {
  return { name, text: text + hidden, status };
}

const post = 'POST /timers HTTP/1.1\r\nhost: localhost\r\n';

/** A head with these header lines. */
const lines = (...headers: string[]): string => `${post}${headers.join('\r\n')}\r\n\r\n`;
const chunked = `${post}transfer-encoding: chunked\r\n\r\n`;

const lengths = [
  attack('two lengths that differ', lines('content-length: 0', 'content-length: 5')),
  attack('two lengths that agree', lines('content-length: 5', 'content-length: 5')),
  attack('two lengths in one header', lines('content-length: 5, 5')),
  attack('length in another case, twice', lines('Content-Length: 0', 'CONTENT-LENGTH: 5')),
  attack('length with a plus', lines('content-length: +5')),
  attack('length with a minus', lines('content-length: -5')),
  attack('negative zero', lines('content-length: -0')),
  attack('length in hexadecimal', lines('content-length: 0x5')),
  attack('length with an underscore', lines('content-length: 1_0')),
  attack('length with a fraction', lines('content-length: 5.0')),
  attack('length with an exponent', lines('content-length: 1e1')),
  attack('length with a blank inside', lines('content-length: 1 0')),
  attack('length without digits', lines('content-length:')),
  attack('length in other digits', lines('content-length: \xb2')),
  attack('length with a vertical tab', lines('content-length: \x0b5')),
  attack('length with a form feed', lines('content-length: 5\x0c')),
  attack('length with a semicolon', lines('content-length: 5;')),
  attack('length in quotes', lines('content-length: "5"')),
  attack('more digits than a number has', lines(`content-length: ${'9'.repeat(30)}`), 413),
];

const codings = [
  attack('length and chunks', lines('content-length: 5', 'transfer-encoding: chunked')),
  attack('chunks and length', lines('transfer-encoding: chunked', 'content-length: 5')),
  attack('length and no coding', lines('content-length: 5', 'transfer-encoding: identity')),
  attack('coding unknown', lines('transfer-encoding: xchunked')),
  attack('coding with a parameter', lines('transfer-encoding: chunked;q=1')),
  attack('coding in quotes', lines('transfer-encoding: "chunked"')),
  attack('coding with a vertical tab', lines('transfer-encoding: \x0bchunked')),
  attack('coding with a tab inside', lines('transfer-encoding: chun\tked')),
  attack('coding with a NUL behind it', lines('transfer-encoding: chunked\0')),
  attack('coding empty', lines('transfer-encoding:')),
  attack('chunked twice in one header', lines('transfer-encoding: chunked, chunked')),
  attack(
    'chunked twice in two headers',
    lines('transfer-encoding: chunked', 'transfer-encoding: chunked'),
  ),
  attack(
    'chunked, then something else',
    lines('transfer-encoding: chunked', 'transfer-encoding: x'),
  ),
  attack('something else, then chunked', lines('transfer-encoding: gzip, chunked')),
  attack('chunked and identity', lines('transfer-encoding: chunked, identity')),
  attack('a comma before it', lines('transfer-encoding: , chunked')),
  attack(
    'chunks in HTTP/1.0',
    'POST /timers HTTP/1.0\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ),
  attack('packed body', `${lines('content-encoding: gzip', 'content-length: 5')}hello`, 415),
  attack('expectation unknown', lines('expect: 200-ok', 'content-length: 5'), 417),
];

const headers = [
  attack('blank before the colon', lines('transfer-encoding : chunked')),
  attack('tab before the colon', lines('content-length\t: 5')),
  attack('folded line', lines('x: y', ' transfer-encoding: chunked')),
  attack('line folded with a tab', lines('transfer-encoding:', '\tchunked')),
  attack('first header begins with a blank', lines(' content-length: 5')),
  attack('name with a blank inside', lines('content length: 5')),
  attack('name beyond ASCII', lines('content-l\xe4ngth: 5')),
  attack('name with a NUL', lines('content-length\0: 5')),
  attack('name empty', lines(': 5')),
  attack('name in brackets', lines('[content-length]: 5')),
  attack('no colon', lines('content-length')),
  attack('bare LF after a header', `${post}x: y\ncontent-length: 5\r\n\r\n`),
  attack('bare LF everywhere', 'POST /timers HTTP/1.1\nhost: localhost\ncontent-length: 5\n\n'),
  attack('bare LF at the end of the head', `${post}content-length: 5\n\n`),
  attack('bare LF instead of the empty line', `${post}content-length: 5\r\n\n`),
  attack('bare CR in a value', lines('x: y\rcontent-length: 5')),
  attack('CR CR LF', lines('x: y\r', 'content-length: 5')),
  attack('bare CR between headers', `${post}x: y\rtransfer-encoding: chunked\r\n\r\n`),
  attack('NUL in a value', lines('x: a\0b')),
  attack('DEL in a value', lines('x: a\x7fb')),
  attack('escape in a value', lines('x: \x1b[0m')),
  attack('no host', 'POST /timers HTTP/1.1\r\ncontent-length: 0\r\n\r\n'),
  attack('two hosts', lines('host: y')),
  attack('two hosts that agree', lines('Host: localhost')),
  attack('host with a path', 'GET /ping HTTP/1.1\r\nhost: x/y\r\n\r\n'),
  attack('host with credentials', 'GET /ping HTTP/1.1\r\nhost: a@x\r\n\r\n'),
  attack('host with a blank', 'GET /ping HTTP/1.1\r\nhost: x y\r\n\r\n'),
];

const requestLines = [
  attack('two blanks behind the method', 'POST  /timers HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('tabs for blanks', 'POST\t/timers\tHTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('blank behind the version', 'POST /timers HTTP/1.1 \r\nhost: localhost\r\n\r\n'),
  attack('blank before the method', ' POST /timers HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('blank in the target', 'GET /ping x HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target with a CR', 'GET /ping\r/ HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target with a NUL', 'GET /ping\0 HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target beyond ASCII', 'GET /p\xefng HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target with a fragment', 'GET /ping#x HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target without a slash', 'GET ping HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target of another scheme', 'GET ftp://x/ping HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target with credentials', 'GET http://a@x/ping HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('target without a name', 'GET http:///ping HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('asterisk for a GET', 'GET * HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('no target', 'GET HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('no version', 'GET /ping\r\nhost: localhost\r\n\r\n'),
  attack('version in lower case', 'GET /ping http/1.1\r\nhost: localhost\r\n\r\n'),
  attack('version 1.2', 'GET /ping HTTP/1.2\r\nhost: localhost\r\n\r\n'),
  attack('version 1.10', 'GET /ping HTTP/1.10\r\nhost: localhost\r\n\r\n'),
  attack('version 01.1', 'GET /ping HTTP/01.1\r\nhost: localhost\r\n\r\n'),
  attack('version 0.9', 'GET /ping HTTP/0.9\r\nhost: localhost\r\n\r\n'),
  attack('HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  attack('method beyond ASCII', 'P\xd6ST /timers HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('method in brackets', '(POST) /timers HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('two empty lines before', '\r\n\r\nGET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('bare LF before', '\nGET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  attack('a tunnel', 'CONNECT x:80 HTTP/1.1\r\nhost: localhost\r\n\r\n', 405),
  attack('a hello of TLS', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03'),
];

const chunks = [
  attack('size empty', `${chunked}\r\n\r\n`),
  attack('size not hexadecimal', `${chunked}g\r\nx\r\n0\r\n\r\n`),
  attack('size with 0x', `${chunked}0x1\r\nx\r\n0\r\n\r\n`),
  attack('size negative', `${chunked}-1\r\nx\r\n0\r\n\r\n`),
  attack('size with a plus', `${chunked}+1\r\nx\r\n0\r\n\r\n`),
  attack('size with a blank before', `${chunked} 1\r\nx\r\n0\r\n\r\n`),
  attack('size with a blank behind', `${chunked}1 \r\nx\r\n0\r\n\r\n`),
  attack('size with an underscore', `${chunked}1_0\r\nx\r\n0\r\n\r\n`),
  attack('size of too many digits', `${chunked}000000001\r\nx\r\n0\r\n\r\n`),
  attack('size that wraps 64 bits', `${chunked}10000000000000001\r\nx\r\n0\r\n\r\n`),
  attack('size over the limit', `${chunked}ffffffff\r\nx\r\n0\r\n\r\n`, 413),
  attack('bare LF behind the size', `${chunked}1\nx\r\n0\r\n\r\n`),
  attack('bare CR behind the size', `${chunked}1\rx\r\n0\r\n\r\n`),
  attack('bare LF in an extension', `${chunked}1;a\nb\r\nx\r\n0\r\n\r\n`),
  attack('bare CR in an extension', `${chunked}1;a\rb\r\nx\r\n0\r\n\r\n`),
  attack('NUL in an extension', `${chunked}1;a\0\r\nx\r\n0\r\n\r\n`),
  attack('an extension too long', `${chunked}1;${'a'.repeat(1024)}\r\nx\r\n0\r\n\r\n`),
  attack('many extensions', `${chunked}${`1;${'a'.repeat(300)}\r\nx\r\n`.repeat(4)}0\r\n\r\n`),
  attack('an extension without a name', `${chunked}1;\r\nx\r\n0\r\n\r\n`),
  attack('an extension with an open quote', `${chunked}1;a="b\r\nx\r\n0\r\n\r\n`),
  attack('an extension with more behind its quotes', `${chunked}1;a="b"c\r\nx\r\n0\r\n\r\n`),
  attack('an extension of the last chunk beyond ASCII', `${chunked}0;\xe4\r\n\r\n`),
  attack('a tab behind the coding', `${lines('transfer-encoding: chunked\t')}0\r\n\r\n`),
  attack('a coding among the trailers', `${chunked}0\r\ntransfer-encoding: chunked\r\n\r\n`),
  attack('a length among the trailers', `${chunked}0\r\nContent-Length: 9\r\n\r\n`),
  attack(
    'the end of the connection among the trailers',
    `${chunked}0\r\nConnection: close\r\n\r\n`,
  ),
  attack('a host among the trailers', `${chunked}0\r\nx: y\r\nhost: y\r\n\r\n`),
  attack('credentials among the trailers', `${chunked}0\r\nauthorization: Bearer x\r\n\r\n`),
  attack('chunk longer than said', `${chunked}1\r\nxy\r\n0\r\n\r\n`),
  attack('chunk shorter than said', `${chunked}3\r\nx\r\n0\r\n\r\n`),
  attack('bare LF behind a chunk', `${chunked}1\r\nx\n0\r\n\r\n`),
  attack('no line end behind a chunk', `${chunked}1\r\nx0\r\n\r\n`),
  attack('bare LF behind the last chunk', `${chunked}0\n\n`),
  attack('trailer without a colon', `${chunked}0\r\nx\r\n\r\n`),
  attack('trailer with a blank before its colon', `${chunked}0\r\nx : y\r\n\r\n`),
  attack('folded trailer', `${chunked}0\r\nx: y\r\n z\r\n\r\n`),
  attack('trailer with a bare LF', `${chunked}0\r\nx: y\n\r\n`),
  attack('trailers too long', `${chunked}0\r\n${'x: y\r\n'.repeat(1000)}\r\n`, 431),
  attack('a trailer too long', `${chunked}0\r\nx: ${'y'.repeat(5000)}\r\n\r\n`, 431),
];

const sizes = [
  attack('a head too large', lines(`x: ${'y'.repeat(20_000)}`), 431),
  attack(
    'a request line too long',
    `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    414,
  ),
  attack('too many headers', lines(...Array.from({ length: 200 }, (_, i) => `x${i}: y`)), 431),
];

export const attacks: readonly Attack[] = [
  ...lengths,
  ...codings,
  ...headers,
  ...requestLines,
  ...chunks,
  ...sizes,
];
