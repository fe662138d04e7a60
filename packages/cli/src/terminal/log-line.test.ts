import { expect, test } from 'vitest';
import { readLogLine } from './log-line.ts';

test.each([
  [
    '{"level":30,"time":"2026-01-02T03:04:05.678Z","member":"n0","event":"serving","msg":"The member serves.","timers":3}',
    { time: '03:04:05.678', level: 'info', text: 'The member serves.  timers=3', shared: null },
  ],
  [
    '{"level":40,"time":"2026-01-02T03:04:05.678Z","msg":"A peer cannot be reached.","reason":"connect ECONNREFUSED 127.0.0.1:1"}',
    {
      time: '03:04:05.678',
      level: 'warn',
      text: 'A peer cannot be reached.  reason=Connection refused.',
      shared: null,
    },
  ],
  ['not JSON\u0007', { time: '', level: '', text: 'not JSON·', shared: null }],
  [
    '{"level":40,"time":"2026-01-02T03:04:05.678Z","event":"receiver-failing","msg":"A receiver fails.","namespace":"a","receiver":"http://r"}',
    {
      time: '03:04:05.678',
      level: 'warn',
      text: 'A receiver fails.  namespace=a  receiver=http://r',
      shared: 'receiver-failing a http://r',
    },
  ],
])('%s is read as %j', (line, read) => {
  expect(readLogLine(line)).toEqual(read);
});
