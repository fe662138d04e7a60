/**
 * The newest texts, so many at most: each has a number, under which it is found until as many others have come after
 * it.
 */

/** The number of no text. */
export const noText = -1;

export class RecentTexts {
  private readonly countMax: number;
  private readonly texts: string[] = [];
  /** The number of each text that is here: a receiver mostly says the same again. */
  private readonly numbers = new Map<string, number>();
  private next = 0;

  constructor(countMax: number) {
    this.countMax = countMax;
  }

  add(text: string): number {
    if (text === '') return noText;
    const known = this.numbers.get(text);
    // One that will soon be forgotten is kept anew.
    if (known !== undefined && this.next - known < this.countMax / 2) return known;
    const number = this.next++;
    const at = number % this.countMax;
    const former = this.texts[at];
    if (former !== undefined && this.numbers.get(former) === number - this.countMax)
      this.numbers.delete(former);
    this.texts[at] = text;
    this.numbers.set(text, number);
    return number;
  }

  /** Empty for a text that is forgotten. */
  of(number: number): string {
    const isHere = number !== noText && this.next - number <= this.countMax;
    return isHere ? (this.texts[number % this.countMax] ?? '') : '';
  }
}
