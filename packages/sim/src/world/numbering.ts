/**
 * How simulated members number timers: with a key, as clusters with tokens do. It is the same in all runs, so that
 * seeds repeat.
 */
import { numberingOf } from '@carillon/server/internal';

export const numbering = numberingOf('5eed'.repeat(16));
