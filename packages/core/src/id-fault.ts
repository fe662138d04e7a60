/** Why a text is not the id of a timer. */
import { factorMax, parseLooseTimerId } from './ids.ts';

const form = `16 or 32 of 0-9 and a-f, then perhaps a dash and a factor from 1 to ${factorMax}`;

/** The fault and the right form, as sentences; null: the text is an id. */
export function timerIdFault(text: string): string | null {
  if (parseLooseTimerId(text) !== null) return null;
  return `This is not the id of a timer: ${faultOf(text)}. An id is ${form}: 00000000000004d2-2.`;
}

function faultOf(text: string): string {
  const dash = text.indexOf('-');
  const digits = dash === -1 ? text : text.slice(0, dash);
  if (digits.length !== 16 && digits.length !== 32) {
    return `it has ${digits.length} characters${dash === -1 ? '' : ' before the dash'}`;
  }
  if (parseLooseTimerId(digits) !== null) return 'the part behind the dash is no such factor';
  const isCapital = parseLooseTimerId(digits.toLowerCase()) !== null;
  return isCapital ? 'it has capital letters' : 'it has other characters than hex digits';
}
