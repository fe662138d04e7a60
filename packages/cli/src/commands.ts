/** Every command of the binary. Each is loaded only when it is asked for: `carillon get` must not load a server. */
import type { Command, Entry } from './command.ts';

type Module = Promise<{ readonly command: Command }>;

function entry(name: string, summary: string, load: () => Module): Entry {
  return { name, summary, load: async () => (await load()).command };
}

export const commands: readonly Entry[] = [
  entry('serve', 'Run a member.', () => import('./commands/operate/serve.ts')),
  entry(
    'dev',
    'A local cluster with a receiver, to try things out.',
    () => import('./commands/operate/dev.ts'),
  ),
  entry('set', 'Set a timer, or replace one.', () => import('./commands/timers/set.ts')),
  entry('get', 'Show a timer.', () => import('./commands/timers/get.ts')),
  entry('list', 'List timers.', () => import('./commands/timers/list.ts')),
  entry('run', 'Make the callback of a timer now.', () => import('./commands/timers/run.ts')),
  entry(
    'preview',
    'The next pops of a timer if it were set now.',
    () => import('./commands/timers/preview.ts'),
  ),
  entry(
    'cancel',
    'Cancel timers by id, or all with a tag.',
    () => import('./commands/timers/cancel.ts'),
  ),
  entry(
    'listen',
    'A small receiver that prints pops as they arrive.',
    () => import('./commands/timers/listen.ts'),
  ),
  entry(
    'dead-letters',
    'Pops that were given up: count them, list them, send them again, or discard them.',
    () => import('./commands/timers/dead-letters.ts'),
  ),
  entry(
    'history',
    'Every attempt and change of a timer.',
    () => import('./commands/history/history.ts'),
  ),
  entry(
    'audit',
    'Changes of timers, with the tokens that asked for them.',
    () => import('./commands/history/audit.ts'),
  ),
  entry('export', 'Write every timer as NDJSON.', () => import('./commands/timers/export.ts')),
  entry(
    'import',
    'Set timers from NDJSON, as export writes it.',
    () => import('./commands/timers/import.ts'),
  ),
  entry('apply', 'Make the timers match a file.', () => import('./commands/timers/apply.ts')),
  entry(
    'cluster',
    'The cluster: status, members, draining a member, and resync.',
    () => import('./commands/operate/cluster.ts'),
  ),
  entry(
    'doctor',
    'Examine the cluster: findings, each with advice.',
    () => import('./commands/operate/doctor.ts'),
  ),
  entry(
    'lock',
    'Run a command while holding a lock on etcd.',
    () => import('./commands/placement/lock.ts'),
  ),
  entry(
    'ring',
    'Show the members and slots of a lock ring.',
    () => import('./commands/placement/ring.ts'),
  ),
  entry(
    'where',
    'The members or targets that hold a key; computed, without asking for a timer.',
    () => import('./commands/placement/where.ts'),
  ),
  entry(
    'plan',
    'The keys that would move if the members or the topology changed.',
    () => import('./commands/placement/plan.ts'),
  ),
  entry(
    'bench',
    'Set many timers, receive their pops, and tell how late they were.',
    () => import('./commands/operate/bench.ts'),
  ),
  entry(
    'token',
    'Make, list and revoke the tokens that let clients in.',
    () => import('./commands/operate/token.ts'),
  ),
  entry(
    'config',
    'Print or check the configuration of a member.',
    () => import('./commands/operate/config.ts'),
  ),
  entry('completion', 'Print a script for shell completion.', async () => {
    const { completionOf } = await import('./terminal/completion.ts');
    return { command: completionOf(commands) };
  }),
];
