/** A member whose timers are set in another way than usual, for rows beside its own. */
import type { CarillonConfig } from '../load/setter.ts';
import type { System } from './system.ts';

export function withSetter(
  member: Pick<System, 'start'>,
  change: Partial<CarillonConfig>,
): Pick<System, 'start'> {
  return {
    start: async (options) => {
      const running = await member.start(options);
      const { setter } = running;
      if (setter.kind !== 'carillon') throw new Error('Only a member can be used like this.');
      return { ...running, setter: { ...setter, ...change } };
    },
  };
}

/** Every system through its own library: a member through `@carillon/client`. */
export function throughLibrary(system: System): Pick<System, 'start'> {
  return system.kind === 'ours' ? withSetter(system, { kind: 'carillon-client' }) : system;
}
