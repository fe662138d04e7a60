/**
 * Addresses that timers want to be called at. Spellings of forbidden ones are made by the hundred thousand and judged
 * as an attempt would judge them; a second judgement comes from Node's own lists. Some are really called, by names
 * that resolve differently at each question (DNS rebinding), with a listener at the address that no call may reach.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { type SeededRandom, VirtualClock } from '@carillon/core/testing';
import { refuseUri } from '../../../packages/server/src/api/uri.ts';
import { splitUri } from '../../../packages/server/src/callback/uri.ts';
import { HttpCallbacks } from '../../../packages/server/src/callback/callback.ts';
import { judgeReceiver, receiverOf } from '../../../packages/server/src/callback/connect.ts';
import { Guard, parseAllow } from '../../../packages/server/src/callback/guard/guard.ts';
import { TestReceiver } from '../../../packages/server/src/callback/receiver.contract.ts';
import { Mutator } from './mutate.ts';
import { anyAddress, spelled } from './spellings.ts';
import { bytesOf, hold, type Surface, type Tally, textOf, type Verdict } from './surface.ts';

const forbidden4 = new BlockList();
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
]) {
  const [address = '', bits = ''] = range.split('/');
  forbidden4.addSubnet(address, Number(bits), 'ipv4');
}
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');
const special6 = new BlockList();
special6.addSubnet('2002::', 16, 'ipv6');
special6.addSubnet('2001::', 23, 'ipv6');
special6.addSubnet('2001:db8::', 32, 'ipv6');
const embedding6 = new BlockList();
embedding6.addSubnet('::ffff:0:0', 96, 'ipv6');
embedding6.addSubnet('64:ff9b::', 96, 'ipv6');

/** Whether a connection to this literal address would end where none may. */
function isForbidden(host: string): boolean {
  if (isIPv4(host)) return forbidden4.check(host, 'ipv4');
  if (!isIPv6(host)) return false;
  // As URL writes them: the last two groups are the IPv4 address.
  const last = /([0-9a-f]{0,4}):([0-9a-f]{0,4})$/.exec(host);
  if (embedding6.check(host, 'ipv6') && last !== null) {
    const number =
      (Number.parseInt(last[1] || '0', 16) << 16) | Number.parseInt(last[2] || '0', 16);
    const four = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
    return forbidden4.check(four, 'ipv4');
  }
  return !global6.check(host, 'ipv6') || special6.check(host, 'ipv6');
}

export async function guardSurfaces(tally: Tally): Promise<Surface[]> {
  const judged = [urls(tally)];
  // Other systems have one loopback address only.
  return process.platform === 'linux' ? [...judged, await callbacks(tally)] : judged;
}

function urls(tally: Tally): Surface {
  const guard = new Guard({ allow: [], loopback: false, denied: () => none, machine: () => [] });
  const mutator = new Mutator({
    corpus: ['http://127.0.0.1/', 'http://[::1]:80/', 'https://10.0.0.1/x?y', 'http://0x7f.1/'].map(
      bytesOf,
    ),
    words: [
      '@',
      '#',
      '\\',
      '%',
      '/',
      '.',
      ':',
      '0x',
      '[',
      ']',
      '。',
      '①',
      '%31',
      'localhost',
      '::ffff:',
      '\t',
    ],
  });
  return {
    name: 'callback-urls',
    share: 20,
    make: (random) => (random.chance(0.3) ? mutator.make(random) : bytesOf(spelled(random, 80))),
    put: (input) => judge(textOf(input), guard, tally),
  };
}

const none: readonly [] = [];

/** The way of a uri from a body to a connection. */
function judge(uri: string, guard: Guard, tally: Tally): Verdict {
  const split = refuseUri(uri) === null ? splitUri(uri) : null;
  if (split === null) {
    tally.addressesRefused++;
    return 'refused';
  }
  const receiver = receiverOf(split.origin);
  const refused = judgeReceiver(guard, receiver) !== null;
  if (refused) tally.addressesRefused++;
  else if (isForbidden(receiver.host)) tally.forbiddenConnections++;
  hold(refused || !isForbidden(receiver.host), `${uri} would be called at ${receiver.host}.`);
  return refused ? 'refused' : 'taken';
}

/** Real connections: 127.0.0.1 may be called here, 127.0.0.2 may not. */
async function callbacks(tally: Tally): Promise<Surface> {
  const clock = new VirtualClock();
  const receiver = await TestReceiver.start(() => 'HTTP/1.1 204 X\r\nconnection: close\r\n\r\n');
  const victim = await TestReceiver.start(undefined, '127.0.0.2', receiver.port);
  const guard = new Guard({ allow: parseAllow('127.0.0.1'), loopback: false, denied: () => none });
  let turn = 0;
  const resolve = (_: string, done: (addresses: readonly string[]) => void): void => {
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['::ffff:7f00:2'], ['127.0.0.1', '127.0.0.2']];
    setImmediate(done, answers[turn++ % answers.length] ?? []);
  };
  const calling = new HttpCallbacks({ clock, guard, resolve, originCountMax: 64 });
  return {
    name: 'callbacks-made',
    share: 0.3,
    make: (random: SeededRandom) => {
      const name = `http://rebind-${random.between(1, 50)}.example:${receiver.port}/`;
      return bytesOf(random.chance(0.4) ? name : spelled(random, receiver.port, victimSpelled));
    },
    put: async (input) => {
      // Inputs with another port are not called.
      const uri = textOf(input);
      if (!uri.includes(`:${receiver.port}/`)) return 'refused';
      const reached = await call(calling, clock, uri);
      tally.forbiddenConnections += victim.connectionCount;
      hold(victim.connectionCount === 0, `${uri} reached an address that may not be called.`);
      if (!reached) tally.addressesRefused++;
      return reached ? 'taken' : 'refused';
    },
    [Symbol.asyncDispose]: async () => {
      await calling.close();
      await receiver.stop();
      await victim.stop();
    },
  };
}

const victimSpelled = (random: SeededRandom): number =>
  random.chance(0.7) ? 0x7f000002 : anyAddress(random);

async function call(calling: HttpCallbacks, clock: VirtualClock, uri: string): Promise<boolean> {
  const results: string[] = [];
  const about = {
    split: splitUri(uri),
    namespace: 'default',
    method: 'POST',
    headers: {},
    body: new Uint8Array(),
    limitMs: 5000,
  };
  calling.call({ uri, ...about }, ({ kind }) => results.push(kind));
  while (results.length === 0) {
    await clock.advance(0);
    if (results.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return results[0] === 'answer';
}
