/**
 * Where Carillon refuses requests that node:http takes, and why that is meant: by the words of the refusal. A refusal
 * that is missing here fails the test, and so does one here that no input brings.
 */
export const stricter: Readonly<Record<string, string>> = {
  'The request is not HTTP/1.1.':
    'Before a request one empty line is forgiven (RFC 9112 §2.2), with CR LF; node:http skips any number of CR and LF.',
  'The request line is not a method, a target and HTTP/1.1 with one space between each.':
    'One space, and HTTP/1.0 or HTTP/1.1; node:http takes several spaces and other versions.',
  'The target is neither a path with an optional query nor an absolute http or https URL.':
    'Other schemes, user names and `*` mean nothing here (RFC 9112 §3.2).',
  'A line does not end with CR LF, or has a control character in it.':
    'Control characters are read differently by different servers.',
  'The request has no Host header.':
    'Both refuse it; node:http goes on with the next request, Carillon closes the connection.',
  'The Host header is there twice, or is not a name with an optional port.':
    'Has to be refused (RFC 9112 §3.2); node:http takes the first.',
  'Of transfer codings, only chunked alone is understood.':
    'No other coding is known here, and none in HTTP/1.0 (RFC 9112 §6.1).',
  'A chunk of the body is malformed, or has a long extension.':
    'Sizes of at most eight digits; extensions up to a limit.',
  'A header after the last chunk belongs before the body.':
    'Trailers that say where to, by whom or for how long (RFC 9110 §6.5.1); node:http heeds some and takes all.',
  'Request line and headers are larger, or the headers more, than is allowed.':
    'A limit of the member.',
  'The body is larger than 1048576 bytes, the most that is allowed here.': 'A limit of the member.',
};
