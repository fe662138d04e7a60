import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerParser, type Progress } from './answer-parser.ts';

interface Read {
  readonly progress: Progress;
  readonly status: number;
  readonly keeps: boolean;
  readonly retryAfter: string | undefined;
}

/** Reads pieces until something other than `more` comes of it. */
function read(pieces: readonly string[], method = 'POST'): Read {
  const parser = new AnswerParser(method);
  let progress: Progress = 'more';
  for (const piece of pieces) {
    progress = parser.push(Buffer.from(piece, 'latin1'));
    if (progress !== 'more') break;
  }
  const { keeps } = parser;
  const { status, retryAfter } = parser.answer;
  return { progress, status, keeps, retryAfter };
}

const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const okHead = 'HTTP/1.1 200 OK';

const whole: [name: string, answer: string, status: number, keeps: boolean][] = [
  ['no content', head('HTTP/1.1 204 No Content'), 204, true],
  ['no reason', head('HTTP/1.1 204'), 204, true],
  ['a length', `${head(okHead, 'Content-Length: 3')}abc`, 200, true],
  ['a length of nothing', head(okHead, 'content-length:0'), 200, true],
  [
    'not modified, with the length it would have',
    head('HTTP/1.1 304 X', 'content-length: 9'),
    304,
    true,
  ],
  ['chunks', `${head(okHead, 'Transfer-Encoding: Chunked')}3\r\nabc\r\n0\r\n\r\n`, 200, true],
  [
    'chunks with extensions and trailers',
    `${head(okHead, 'transfer-encoding: chunked')}A;x=y\r\n0123456789\r\n0\r\na: b\r\n\r\n`,
    200,
    true,
  ],
  [
    'a chunk that looks like an end',
    `${head(okHead, 'transfer-encoding: chunked')}5\r\n0\r\n\r\n\r\n0\r\n\r\n`,
    200,
    true,
  ],
  [
    'interim answers before it',
    head('HTTP/1.1 100 Continue') +
      head('HTTP/1.1 103 Hints', 'link: x') +
      head('HTTP/1.1 500 X', 'content-length: 0'),
    500,
    true,
  ],
  ['the last one', head(okHead, 'content-length: 0', 'Connection: x, Close'), 200, false],
  ['from an old server', head('HTTP/1.0 200 OK', 'content-length: 0'), 200, false],
  ['bytes behind it', `${head(okHead, 'content-length: 1')}ab`, 200, false],
  [
    'bytes behind its chunks',
    `${head(okHead, 'transfer-encoding: chunked')}0\r\n\r\nx`,
    200,
    false,
  ],
];

const malformed: [name: string, answer: string][] = [
  ['another protocol', head('SSH-2.0-x')],
  ['another version', head('HTTP/2 200 OK')],
  ['no such status', head('HTTP/1.1 600 X')],
  ['a status of two digits', head('HTTP/1.1 20 OK')],
  ['an upgrade', head('HTTP/1.1 101 X', 'upgrade: x')],
  ['a line that does not end', `${okHead}${'x'.repeat(16_400)}`],
  ['digits behind the status', head('HTTP/1.1 2000 OK')],
  [
    'only the bytes before an answer',
    head('HTTP/1.1 103 Hints', `x: ${'x'.repeat(1000)}`).repeat(17),
  ],
];

/** Of these the status counts, and nothing else does. */
const odd: [name: string, answer: string][] = [
  ['a nul in the reason', head('HTTP/1.1 200 \0')],
  ['lines that end with a line feed alone', `${okHead}\ncontent-length: 0\n\n`],
  ['an empty line that ends with a line feed alone', `${okHead}\r\ncontent-length: 0\r\n\n`],
  ['blanks and a line feed', `${okHead}\r\nA:${' '.repeat(4000)}\n\r\n`],
  ['a carriage return inside a line', head(okHead, 'a: b\rc')],
  ['a header that is too long', `${okHead}\r\nx: ${'x'.repeat(16_400)}`],
  [
    'odd words before it',
    `${head('HTTP/1.1 100 Continue', 'x')}${head('HTTP/1.1 200 OK', 'content-length: 0')}`,
  ],
  ['a header without a colon', head(okHead, 'x')],
  ['a blank before the colon', head(okHead, 'content-length : 0')],
  ['a folded header', head(okHead, 'a: b', ' c')],
  ['a line feed alone', head(`${okHead}\ncontent-length: 0`)],
  ['a nul', head(okHead, 'a: \0')],
  ['two lengths that differ', head(okHead, 'content-length: 1', 'content-length: 2')],
  ['two equal lengths', head(okHead, 'content-length: 1', 'content-length: 1')],
  ['a length that is none', head(okHead, 'content-length: 1, 1')],
  ['a negative length', head(okHead, 'content-length: -1')],
  ['a length and chunks', head(okHead, 'content-length: 5', 'transfer-encoding: chunked')],
  ['two codings', head(okHead, 'transfer-encoding: chunked', 'transfer-encoding: chunked')],
  ['a chunk without a size', `${head(okHead, 'transfer-encoding: chunked')}\r\nabc`],
  ['a chunk longer than it says', `${head(okHead, 'transfer-encoding: chunked')}1\r\nabc\r\n`],
  ['a size that is none', `${head(okHead, 'transfer-encoding: chunked')}0x1\r\na\r\n`],
];

const enough: [name: string, answer: string][] = [
  ['a length', head(okHead, 'content-length: 16385')],
  ['a chunk', `${head(okHead, 'transfer-encoding: chunked')}4001\r\n`],
  ['many chunks', `${head(okHead, 'transfer-encoding: chunked')}${'1\r\nx\r\n'.repeat(10_000)}`],
  ['trailers', `${head(okHead, 'transfer-encoding: chunked')}0\r\n${'a: b\r\n'.repeat(10_000)}`],
  ['no length', `${head(okHead)}${'x'.repeat(16_385)}`],
];

describe('answers of receivers', () => {
  it.each(whole)('%s: read to its end', (_, answer, status, keeps) => {
    expect(read([answer])).toMatchObject({ progress: 'whole', status, keeps });
  });

  it.each(malformed)('%s is malformed', (_, answer) => {
    expect(read([answer])).toMatchObject({ progress: 'malformed', status: 0 });
  });

  it.each(odd)('%s: the status counts, and the connection is not used again', (_, answer) => {
    expect(read([answer])).toMatchObject({ progress: 'enough', status: 200, keeps: false });
  });

  it('a status counts as soon as its line is here', () => {
    expect(read([`${okHead}\r\n`])).toMatchObject({ progress: 'more', status: 200 });
    expect(read([okHead])).toMatchObject({ progress: 'more', status: 0 });
  });

  it('Retry-After counts behind an odd line too', () => {
    const answer = head('HTTP/1.1 503 X', 'a: b', ' folded', 'retry-after: 7');
    expect(read([answer])).toMatchObject({ status: 503, retryAfter: '7', keeps: false });
  });

  it.each(enough)('of content that is too long by %s only the status counts', (_, answer) => {
    expect(read([answer])).toMatchObject({ progress: 'enough', status: 200 });
  });

  it('an answer without a length goes on until the connection ends, and no other can follow', () => {
    const answer = head('HTTP/1.1 200 OK');
    expect(read([answer, 'abc'])).toMatchObject({ progress: 'more', status: 200, keeps: false });
  });

  it.each(['gzip', 'gzip, chunked', 'identity', 'chunked, chunked', 'chunked\t', ''])(
    'an answer in the coding %j is not read on: its end cannot be known',
    (coding) => {
      const answer = head('HTTP/1.1 200 OK', `transfer-encoding: ${coding}`);
      const found = { progress: 'enough', status: 200, keeps: false };
      expect(read([answer, '0\r\n\r\n'])).toMatchObject(found);
    },
  );

  it.each(['5;', '5;=a', '5;a=', '5;a="b', '5;a="b"c', '5;a b', '5; a', '5;a;', '5;\xe4'])(
    'a chunk with the malformed extension %j ends the reading',
    (line) => {
      const answer = head(okHead, 'transfer-encoding: chunked');
      const found = { progress: 'enough', status: 200, keeps: false };
      expect(read([answer, `${line}\r\nhello\r\n0\r\n\r\n`])).toMatchObject(found);
    },
  );

  it.each([
    ['in HTTP/1.0', head('HTTP/1.0 100 Continue')],
    ['that closes the connection', head('HTTP/1.1 103 Early Hints', 'connection: close')],
  ])('behind an interim answer %s no connection is used again', (_, interim) => {
    const found = { progress: 'enough', status: 200, keeps: false };
    expect(read([interim, head(okHead, 'content-length: 0')])).toMatchObject(found);
  });

  it.each(['content-length: 0', 'Transfer-Encoding: chunked', 'connection: close'])(
    'a trailer that says where the answer or the connection ends, %j, ends the reading',
    (line) => {
      const answer = head(okHead, 'transfer-encoding: chunked');
      const found = { progress: 'enough', status: 200, keeps: false };
      expect(read([answer, `0\r\n${line}\r\n\r\n`])).toMatchObject(found);
    },
  );

  it('a HEAD has no content, whichever length is given', () => {
    const answer = head(okHead, 'content-length: 99999');
    expect(read([answer], 'HEAD')).toMatchObject({ progress: 'whole', keeps: true });
  });

  it('keeps Retry-After, the first of several', () => {
    const answer = head(
      'HTTP/1.1 429 X',
      'Retry-After:\t7 ',
      'retry-after: 9',
      'content-length: 0',
    );
    expect(read([answer]).retryAfter).toBe('7');
  });

  it('reads the same whichever way the bytes are cut', () => {
    const answers = [
      ...whole.map(([, answer]) => answer),
      ...malformed.map(([, answer]) => answer),
      ...odd.map(([, answer]) => answer),
    ];
    fc.assert(
      fc.property(fc.constantFrom(...answers), fc.array(fc.nat(200)), (answer, cuts) => {
        const places = [
          0,
          ...cuts.filter((at) => at < answer.length).toSorted((a, b) => a - b),
          answer.length,
        ];
        const pieces = places
          .slice(1)
          .map((to, i) => answer.slice(places[i], to))
          .filter((piece) => piece !== '');
        const { keeps, ...cut } = read(pieces);
        const { keeps: keepsWhole, ...uncut } = read([answer]);
        expect(cut).toEqual(uncut);
        // Where more comes later, it is seen later: the connection drops it then.
        if (keepsWhole) expect(keeps).toBe(true);
      }),
    );
  });

  it('takes any bytes without a word', () => {
    const bytes = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 200 }),
      fc.constantFrom(...whole.map(([, answer]) => answer)),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), (pieces) => {
        expect(['more', 'whole', 'enough', 'malformed']).toContain(read(pieces).progress);
      }),
    );
  });
});

describe('the first bytes of an answer that is no success', () => {
  const said = (...pieces: string[]): string => {
    const parser = new AnswerParser('POST');
    for (const piece of pieces) if (parser.push(Buffer.from(piece, 'latin1')) !== 'more') break;
    return parser.answer.said.toString('latin1');
  };
  const failed = 'HTTP/1.1 500 X';

  it.each<[string, string, string]>([
    ['with a length', `${head(failed, 'content-length: 3')}abc`, 'abc'],
    [
      'in chunks',
      `${head(failed, 'transfer-encoding: chunked')}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`,
      'abc',
    ],
    ['up to the end of the connection', `${head(failed)}abc`, 'abc'],
    ['of more than is read', `${head(failed, 'content-length: 99999')}abc`, 'abc'],
    [
      'of a chunk of more than is read',
      `${head(failed, 'transfer-encoding: chunked')}ffff\r\nabc`,
      'abc',
    ],
  ])('are kept %s, wherever the bytes are cut', (_, answer, expected) => {
    expect(said(answer)).toBe(expected);
    expect(said(...answer.split(''))).toBe(expected);
  });

  it('are 256 at the most, and no more is waited for', () => {
    const long = `${head(failed, 'content-length: 99999')}${'a'.repeat(256)}`;
    expect(said(long)).toBe('a'.repeat(256));
    expect(read([long]).progress).toBe('enough');
    expect(said(`${head(failed, 'content-length: 300')}${'a'.repeat(300)}`)).toHaveLength(256);
  });

  it('are not kept of a success', () => {
    expect(said(`${head(okHead, 'content-length: 3')}abc`)).toBe('');
    expect(read([head(okHead, 'content-length: 99999')]).progress).toBe('enough');
  });
});
