/**
 * The JSON of the items of a batch. Neighbours in an array are parsed in one go, because a call of the parser costs as
 * much as a timer. Where that fails, each is parsed by itself, so that errors are the same: an array is valid JSON only
 * if the parts between its commas are, and then has their values.
 */
import { isUtf8 } from 'node:buffer';
import { isChange } from './batch-change.ts';
import { type BatchItem, shapeOf, tooDeep } from './batch-items.ts';
import { type Source, sourceOf } from './item-form.ts';
import { parseJson } from './json.ts';

/** Bytes of items that are parsed in one go: they hold fewer values than `valueCountMax`, the limit of one item. */
const togetherBytesMax = 8 * 1024;

export interface BatchText {
  readonly body: Uint8Array;
  readonly items: readonly BatchItem[];
  /** Whether a comma is all that lies between two items. */
  readonly isArray: boolean;
  readonly depthMax: number;
}

export class BatchJson {
  private readonly text: BatchText;
  private readonly source: Source;
  /** Values of the items from `first` on; empty: they have to be parsed one by one. */
  private values: readonly unknown[] = [];
  private first = 0;
  private end = 0;

  constructor(text: BatchText) {
    this.text = text;
    this.source = sourceOf(text.body);
  }

  /**
   * The value of an item, lent until the next call; to be asked for in order. A timer may be nested as deep as one by
   * itself, wherever it lies. Throws CarillonError.
   */
  at(index: number): unknown {
    const { body, items, depthMax } = this.text;
    const { from, to, shape, form, differing } = items[index] as BatchItem;
    if (shape !== null && form !== null) {
      const value = form.valueOf(this.source, differing);
      if (value !== undefined) return fit(value, shape.depth, depthMax);
    }
    if (index >= this.end) this.parseFrom(index);
    if (shape === null || this.values.length === 0) {
      const bytes = body.subarray(from, to);
      const known = shape ?? shapeOf(bytes);
      return fit(parseJson(bytes, depthMax + 1, known), known.depth, depthMax);
    }
    return fit(this.values[index - this.first], shape.depth, depthMax);
  }

  private parseFrom(index: number): void {
    const { items, isArray } = this.text;
    const { from } = items[index] as BatchItem;
    this.first = index;
    this.end = index + 1;
    const endMax = isArray ? items.length : this.end;
    while (this.end < endMax && isNear(items[this.end] as BatchItem, from)) this.end++;
    this.values = this.end - index > 1 ? this.together(from, index) : [];
  }

  private together(from: number, index: number): readonly unknown[] {
    const { body, items } = this.text;
    const { to } = items[this.end - 1] as BatchItem;
    const bytes = Buffer.from(body.buffer, body.byteOffset + from, to - from);
    const values = isUtf8(bytes) ? arrayOf(`[${bytes.toString('utf8')}]`) : [];
    return values.length === this.end - index ? values : [];
  }
}

/** Whether an item is parsed together with the one that begins at `from`. */
function isNear({ to, form }: BatchItem, from: number): boolean {
  return form === null && to - from <= togetherBytesMax;
}

function fit(json: unknown, depth: number, depthMax: number): unknown {
  if (depth > depthMax && !isChange(json)) throw tooDeep(depthMax);
  return json;
}

/** Empty: the text is not valid. */
function arrayOf(text: string): readonly unknown[] {
  try {
    return JSON.parse(text) as unknown[];
  } catch {
    return [];
  }
}
