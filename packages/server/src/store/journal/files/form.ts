/**
 * Forms of the data folder. Every file says its form in its header; the header itself is the same in all forms. A release
 * reads all forms from `oldest` to `newest`. It writes `before`, which the release before it reads too, until every member
 * of the cluster is known to read `newest`. A folder with one file in a newer form is refused by the release before.
 *
 * 1: without a table of contents (contents.ts). 2: with one.
 *
 * A new form comes with a new protocol of the wire (replication/wire/frame.ts): by the protocols in their hellos members know
 * which forms the others read.
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
