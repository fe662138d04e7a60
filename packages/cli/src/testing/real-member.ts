/** A real member on loopback, alone and in memory, for tests of commands against the real thing. */
import { loadConfig, type RunningMember, startMember } from '@carillon/server';

export async function realMember(flags: Record<string, string> = {}): Promise<RunningMember> {
  const loaded = loadConfig({
    flags: { listen: '127.0.0.1:0', durability: 'memory', 'log-level': 'silent', ...flags },
  });
  if (!loaded.ok) throw new Error(loaded.problems.join(' '));
  const onFailed = (error: unknown): never => {
    throw error;
  };
  return startMember({ config: loaded.config, onFailed, onDrained: () => {} });
}
