/** Pictures drawn by hand as SVG: readable on a light and on a dark page, text stays text. */

export const colours = {
  ours: '#0b7a75',
  oursLight: '#5fb3ae',
  peer: '#c2703d',
  baseline: '#8a8f98',
  text: '#30343b',
  faint: '#8a8f98',
  grid: '#dfe2e6',
  page: '#ffffff',
} as const;

/** For lines that must be told apart. */
export const palette = [
  '#0b7a75',
  '#5fb3ae',
  '#c2703d',
  '#e3a16f',
  '#3c5fa8',
  '#8b5aa8',
  '#8a8f98',
  '#c0c4ca',
] as const;

export function escape(raw: string): string {
  return raw
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

interface TextOptions {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly fill?: string;
  readonly isBold?: boolean;
}

export function text(x: number, y: number, content: string, options: TextOptions = {}): string {
  const { anchor = 'start', size = 12, fill = colours.text, isBold = false } = options;
  const weight = isBold ? ' font-weight="600"' : '';
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-size="${size}" fill="${fill}"${weight}>${escape(content)}</text>`;
}

export function line(
  from: readonly [number, number],
  to: readonly [number, number],
  stroke: string,
): string {
  return `<line x1="${round(from[0])}" y1="${round(from[1])}" x2="${round(to[0])}" y2="${round(to[1])}" stroke="${stroke}"/>`;
}

/** A whole picture with its own background, so that it can be shown anywhere. */
export function picture(
  width: number,
  height: number,
  title: string,
  parts: readonly string[],
): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}" font-family="system-ui, sans-serif">`;
  const ground = `<rect width="${width}" height="${height}" fill="${colours.page}"/>`;
  return [head, `<title>${escape(title)}</title>`, ground, ...parts, '</svg>', ''].join('\n');
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
