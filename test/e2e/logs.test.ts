/** The log of a real member: a line for each important event, none for each pop or request, and no secrets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon } from '@carillon/client';
import { expect, test } from 'vitest';
import { CliProcess } from './cli-process.ts';
import { Receiver } from './receiver.ts';

const signing = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

test.each(['info', 'debug'])('at %s a day in the life of a member is six lines', async (level) => {
  const data = mkdtempSync(join(tmpdir(), 'carillon-logs-'));
  const receiver = new Receiver();
  const uri = `${await receiver.listen()}/hook?token=hush-1`;
  const args = ['serve', '--name', 'one', '--data', data, '--listen', '127.0.0.1:0', '--json'];
  const member = new CliProcess([...args, '--log-level', level], {
    CARILLON_CALLBACKS_SIGNING_SECRETS: signing,
  });
  try {
    const { url } = await member.line((line) => 'url' in line);
    const client = new Carillon({ members: [String(url)], refresh: null });
    await client.set({
      every: 100,
      count: 5,
      uri,
      opaque: 'hush-2',
      headers: { 'x-key': 'hush-3' },
    });
    await fetch(`${String(url)}/timers?tag=hush-4&limit=0`);
    await fetch(`${String(url)}/cluster/drain`, { method: 'POST' });
    await receiver.received(1);
    expect((await member.kill('SIGTERM')).code).toBe(0);
  } finally {
    await member.kill('SIGKILL');
    receiver.close();
    rmSync(data, { recursive: true });
  }
  const lines = member.json().filter((line) => 'msg' in line);
  expect(member.lines).toHaveLength(lines.length + 1);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'The journal is open.',
    'The view has changed.',
    'The member serves.',
    'A drain was asked for.',
    'The drain did not finish.',
    'The member stops.',
  ]);
  for (const line of lines) {
    expect(line).toMatchObject({
      level: expect.any(Number),
      time: expect.any(String),
      member: 'one',
    });
  }
  const everything = [...member.lines, ...member.errors].join('\n');
  expect(everything).not.toMatch(/hush/);
  expect(everything).not.toContain(signing.slice(6));
});
