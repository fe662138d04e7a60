/**
 * Forms of the data folder. Every file says its form in its header, which is the same in all forms. A release reads the
 * forms from `oldest` to `newest`. It writes `before`, which the release before it reads too, until every member of the
 * cluster reads `newest`: a new form comes with a new protocol (replication/wire/frame.ts), which members tell in their
 * hellos. The release before refuses a folder with one newer file. Form 1 has no table of contents (contents.ts). From
 * form 3 on, which came with protocol 6, a snapshot holds rows of the store (0044).
 */
export const forms: Readonly<Record<'oldest' | 'before' | 'newest', number>> = {
  oldest: 1,
  before: 2,
  newest: 3,
};

/** Whether a table of contents is kept beside files of this form. */
export function isListed(form: number): boolean {
  return form > 1;
}

/** Whether a snapshot of this form may hold blocks of rows. */
export function hasRows(form: number): boolean {
  return form > 2;
}
