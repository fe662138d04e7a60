/** Every place where something from outside comes in. */
import { answerSurfaces } from './answer-surfaces.ts';
import { diskSurfaces } from './disk-surfaces.ts';
import { guardSurfaces } from './guard-surfaces.ts';
import { httpSurfaces } from './http-surfaces.ts';
import { peerSurfaces } from './peer-surfaces.ts';
import type { Surface, Tally } from './surface.ts';
import { textSurfaces } from './text-surfaces.ts';

export async function allSurfaces(seed: number, tally: Tally): Promise<Surface[]> {
  return [
    ...httpSurfaces(seed, tally),
    ...answerSurfaces(),
    ...peerSurfaces(tally),
    ...diskSurfaces(),
    ...textSurfaces(seed),
    ...(await guardSurfaces(tally)),
  ];
}
