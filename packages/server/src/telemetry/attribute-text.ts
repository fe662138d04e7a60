/**
 * Attributes of spans in the JSON form of OTLP. They are written when the work of a span ends, not when it is exported:
 * a text costs less than the objects it would be made of, and most of its parts come again and again.
 *
 * Example: `{"key":"server.port","value":{"intValue":"80"}}`.
 */

export type Attribute = readonly [name: string, value: string | number];

/** Values of an attribute whose text is kept; with more, all are written again. */
const knownCountMax = 256;

/** Separated by commas. Names of attributes are constants of this release and need no escapes. */
export function attributesText(attributes: readonly Attribute[]): string {
  let text = '';
  for (const [name, value] of attributes) {
    const one = attributeText(name, value);
    text = text === '' ? one : `${text},${one}`;
  }
  return text;
}

/** 64-bit numbers are texts in the JSON of OTLP. */
export function attributeText(name: string, value: string | number): string {
  if (typeof value === 'string')
    return `{"key":"${name}","value":{"stringValue":${JSON.stringify(value)}}}`;
  return Number.isInteger(value)
    ? `{"key":"${name}","value":{"intValue":"${value}"}}`
    : `{"key":"${name}","value":{"doubleValue":${value}}}`;
}

/** An attribute of whole numbers: for one that nearly every span has, so that its name is put in once. */
export function integerAttribute(name: string): (value: number) => string {
  const head = `{"key":"${name}","value":{"intValue":"`;
  return (value) => `${head}${value}"}}`;
}

export function stringAttribute(name: string): (value: string) => string {
  const head = `{"key":"${name}","value":{"stringValue":`;
  return (value) => `${head}${JSON.stringify(value)}}}`;
}

/** Texts that follow from a value of which there are few, such as a namespace. */
export class KnownTexts {
  private readonly write: (value: string) => string;
  private readonly texts = new Map<string, string>();

  constructor(write: (value: string) => string) {
    this.write = write;
  }

  of(value: string): string {
    let text = this.texts.get(value);
    if (text === undefined) {
      if (this.texts.size >= knownCountMax) this.texts.clear();
      text = this.write(value);
      this.texts.set(value, text);
    }
    return text;
  }
}
