/**
 * Bodies of requests with one timer each. The ones of a program mostly differ in texts and numbers alone: such a body
 * is compared with an earlier one and not parsed (`item-form.ts`), and its warnings are those of the earlier one, whose
 * members have the same names.
 *
 * Example: POST /timers with {"timing":{"interval":60},…,"opaque":"a"} is parsed, and the next one, with "bc" in the
 * place of "a", is not.
 */
import { shapeOf } from './batch-items.ts';
import { ItemForm, sourceOf } from './item-form.ts';
import { parseBody } from './json.ts';
import { unknownMembers, warningHeaders } from './unknown-members.ts';

export interface ReadBody {
  /** Lent: the next call may change it. */
  readonly json: unknown;
  /** Headers that tell the client of members without effect. */
  readonly warnings: readonly string[];
}

interface KnownForm {
  readonly form: ItemForm;
  readonly warnings: readonly string[];
}

const formCountMax = 4;
/** Of bodies without a known form one in so many is remembered: where each is different, that costs next to nothing. */
const missesPerForm = 8;

export class TimerBodies {
  private readonly depthMax: number;
  /** The one that a body had last comes first. */
  private readonly forms: KnownForm[] = [];
  private missCount = 0;

  constructor(depthMax: number) {
    this.depthMax = depthMax;
  }

  /** Throws CarillonError. */
  read(body: Uint8Array): ReadBody {
    return this.alike(body) ?? this.parsed(body);
  }

  private alike(body: Uint8Array): ReadBody | null {
    const { forms } = this;
    if (forms.length === 0) return null;
    const source = sourceOf(body);
    for (let i = 0; i < forms.length; i++) {
      const known = forms[i] as KnownForm;
      const json = known.form.bodyOf(source);
      if (json === undefined) continue;
      if (i > 0) forms.unshift(...forms.splice(i, 1));
      return { json, warnings: known.warnings };
    }
    return null;
  }

  private parsed(body: Uint8Array): ReadBody {
    const json = parseBody(body, this.depthMax);
    const warnings = warningHeaders(unknownMembers(json));
    if (this.missCount++ % missesPerForm === 0) this.remember(body, warnings);
    return { json, warnings };
  }

  private remember(body: Uint8Array, warnings: readonly string[]): void {
    const form = ItemForm.ofBody(body, shapeOf(body));
    if (form === null) return;
    this.forms.unshift({ form, warnings });
    if (this.forms.length > formCountMax) this.forms.pop();
  }
}
