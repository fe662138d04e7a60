/**
 * Requests being worked on. One party gets three quarters of the room, so that a flood of its requests leaves some to
 * others.
 */
import { invariant } from '@carillon/core';

const partyShare = 0.75;

export class UnderWay {
  private readonly countMax: number;
  private readonly partyCountMax: number;
  private readonly byParty = new Map<string, number>();
  private all = 0;

  constructor(countMax: number) {
    this.countMax = countMax;
    this.partyCountMax = Math.ceil(countMax * partyShare);
  }

  get count(): number {
    return this.all;
  }

  /** Whether there is no room for another request of the party. */
  isFull(party: string): boolean {
    return this.all >= this.countMax || (this.byParty.get(party) ?? 0) >= this.partyCountMax;
  }

  begin(party: string): void {
    this.all++;
    this.byParty.set(party, (this.byParty.get(party) ?? 0) + 1);
  }

  end(party: string): void {
    const left = (this.byParty.get(party) ?? 0) - 1;
    invariant(left >= 0, 'a request that ends was begun');
    this.all--;
    if (left === 0) this.byParty.delete(party);
    else this.byParty.set(party, left);
  }
}
