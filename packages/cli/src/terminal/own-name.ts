/** What to type to call this binary again: in a clone of the repository it is an npm script. */
import type { Io } from '../command.ts';

export function ownName({ env }: Pick<Io, 'env'>): string {
  return env['npm_package_name'] === 'carillon-workspace' ? 'npm run carillon --' : 'carillon';
}
