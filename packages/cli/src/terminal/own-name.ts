/** The words that call this binary again: a clone of the repository runs it from its sources, through npx. */
export const ownName = import.meta.filename.endsWith('.ts') ? 'npx carillon' : 'carillon';
