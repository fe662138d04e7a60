/** The forms of the items of one batch, which each item is compared with. */
import type { Shape } from './batch-items.ts';
import { ItemForm, type Source, sourceOf } from './item-form.ts';

/** Forms of a batch: sets, replaces and cancels with and without some member. */
const formCountMax = 4;
/** So many items of forms that are not known, beyond the number of the others. */
const missCountMax = 8;

/** Where most items have forms of their own, none is compared with others any longer. */
export class ItemForms {
  private readonly forms: ItemForm[] = [];
  private readonly source: Source;
  private missCount = 0;
  private matchCount = 0;

  constructor(bytes: Uint8Array) {
    this.source = sourceOf(bytes);
  }

  private get isInVain(): boolean {
    return this.missCount > missCountMax + this.matchCount;
  }

  /** The form of the item that begins here, if it is known; its `end` and `differing` tell of the item. */
  match(from: number): ItemForm | null {
    if (this.isInVain) return null;
    for (const form of this.forms) {
      if (!form.match(this.source, from)) continue;
      this.matchCount++;
      return form;
    }
    return null;
  }

  /** The items behind this one, whose form is not known, are compared with it. */
  add(from: number, to: number, shape: Shape): void {
    this.missCount++;
    if (this.forms.length === formCountMax || this.isInVain) return;
    const form = ItemForm.of(this.source, { from, to, shape });
    if (form !== null) this.forms.push(form);
  }
}
