/** Writes records as fast as it can and prints the last one confirmed, until it is killed. */
import { SystemClock, SystemDisk } from '@carillon/core/system';
import { Journal } from '../journal/journal.ts';
import { CollectedLog, recordOf } from './journal-world.ts';

const [, , folder = ''] = process.argv;
const journal = await Journal.open({
  disk: await SystemDisk.open(folder),
  clock: new SystemClock(),
  log: new CollectedLog(),
  identity: 'test',
  replay: { put: () => undefined, drop: () => undefined, rows: () => 0, rowsEnd: () => undefined },
  onFailed: (error) => {
    throw error;
  },
  limits: { reserveBytes: 65_536 },
});
let sent = 0;

function send(): void {
  for (const end = sent + 100; sent < end; sent++) journal.put(recordOf(sent, 0));
  const upTo = sent - 1;
  journal.commit((error) => {
    if (error === null) process.stdout.write(`${upTo}\n`);
    send();
  });
}

send();
send();
