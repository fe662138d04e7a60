/** All broken variants, by the rule they break. */
import { arriving } from './arriving.ts';
import type { Broken } from './broken.ts';
import { givingUp } from './giving-up.ts';
import { keeping } from './keeping.ts';
import { merging } from './merging.ts';
import { popping } from './popping.ts';
import { remembering } from './remembering.ts';
import { splitting } from './splitting.ts';
import { telling } from './telling.ts';

export const variants: readonly Broken[] = [
  ...merging,
  ...popping,
  ...givingUp,
  ...keeping,
  ...arriving,
  ...splitting,
  ...telling,
  ...remembering,
];
