import { expect, test } from 'vitest';
import { read } from './wrk.ts';

const output = `Running 4s test @ http://127.0.0.1:40001/timers
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.01ms    1.20ms  20.00ms   90.00%
    Req/Sec    21.30k     1.02k   22.51k    70.00%
  85200 requests in 4.00s, 12.30MB read
Requests/sec:  21300.55
Transfer/sec:      3.07MB
`;

test('the rate and the CPU a request are read from the output of wrk', () => {
  expect(read(output, 2130)).toEqual({ perSecond: 21_300.55, serverMicros: 25 });
});

test('an output with refused requests is no measurement', () => {
  const refused = `${output}  Non-2xx or 3xx responses: 17\n`;
  expect(() => read(refused, 2130)).toThrow('wrk: Non-2xx or 3xx responses: 17');
});
