/**
 * Forms of the data folder. Every file says its form in its header, which is the same in all forms. A release reads the
 * forms from `oldest` to `newest`. It writes `before`, which the release before it reads too, until every member of the
 * cluster reads `newest`: a new form comes with a new protocol (replication/wire/frame.ts), which members tell in their
 * hellos. The release before refuses a folder with one newer file. Form 1 has no table of contents (contents.ts).
 */
export const forms: Readonly<Record<'oldest' | 'before' | 'newest', number>> = {
  oldest: 1,
  before: 2,
  newest: 2,
};

/** Whether a table of contents is kept beside files of this form. */
export function isListed(form: number): boolean {
  return form > 1;
}
