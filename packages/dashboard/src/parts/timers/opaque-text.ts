/** The opaque text of a timer as it is shown. */

/** Longer texts are shown in part until they are asked for. */
export const shortLengthMax = 600;
export const shortLineCountMax = 8;
/** Longer texts are not parsed as JSON: a page that stands still helps no reader. */
const jsonLengthMax = 100_000;

/** Pretty-printed where it is a JSON object or list; else as it is. */
export function opaqueText(opaque: string): string {
  const first = opaque.trimStart()[0];
  if ((first !== '{' && first !== '[') || opaque.length > jsonLengthMax) return opaque;
  try {
    const value: unknown = JSON.parse(opaque);
    const pretty = JSON.stringify(value, null, 2);
    // A number that JavaScript cannot hold, or a name that is there twice: the text itself is shown.
    return sameMarks(opaque, pretty) ? pretty : opaque;
  } catch {
    return opaque;
  }
}

/** Whether two texts of one JSON value differ in blanks only. */
function sameMarks(given: string, pretty: string): boolean {
  return bare(given) === bare(pretty);
}

function bare(text: string): string {
  return text.replace(/\s/g, '');
}

/** The beginning of a long text; null: it is short. */
export function beginning(text: string): string | null {
  const lines = text.split('\n', shortLineCountMax + 1);
  if (text.length <= shortLengthMax && lines.length <= shortLineCountMax) return null;
  return `${lines.slice(0, shortLineCountMax).join('\n').slice(0, shortLengthMax)} …`;
}
