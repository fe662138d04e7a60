/**
 * Pictures of the docs and reports as SVG files, drawn by Observable Plot. A picture is a title, plots below each
 * other, and a legend; it has a background of its own, so that it can be read on a light and on a dark page.
 */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

export const colours = {
  ours: '#0b7a75',
  peer: '#c2703d',
  baseline: '#8a8f98',
  moved: '#e08a1e',
  text: '#30343b',
  faint: '#8a8f98',
  grid: '#dfe2e6',
  page: '#ffffff',
} as const;

/** For lines and kinds that must be told apart. */
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

/** A word for each colour. */
type Legend = readonly (readonly [word: string, fill: string])[];

export type PicturePlot = Plot.PlotOptions & { readonly height: number };

export interface Picture {
  readonly title: string;
  /** At the right of the title. */
  readonly hint?: string;
  readonly plots: readonly PicturePlot[];
  readonly legend?: Legend;
  readonly legendColumns?: number;
}

const width = 720;
const titleHeight = 44;
const legendRowHeight = 20;
const { document } = parseHTML('<html></html>');

export function drawn(picture: Picture): string {
  const { title, hint = '', legend = [], legendColumns = 2 } = picture;
  const heading: PicturePlot = {
    height: titleHeight,
    marks: [
      Plot.text([title], { frameAnchor: 'left', dx: 16, fontSize: 15, fontWeight: 600 }),
      Plot.text([hint], { frameAnchor: 'right', dx: -16, fill: colours.faint }),
    ],
    margin: 0,
  };
  const below = legend.length === 0 ? [] : [legendPlot(legend, legendColumns)];
  const parts = [heading, ...picture.plots, ...below];
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  let top = 0;
  for (const options of parts) {
    const style = { color: colours.text, background: 'none', fontSize: '12px' };
    const part = Plot.plot({ document, width, style, ...options });
    part.querySelector('style')?.remove();
    part.removeAttribute('viewBox');
    part.setAttribute('y', String(top));
    svg.append(part);
    top += options.height;
  }
  const size = `viewBox="0 0 ${width} ${top}" width="${width}" height="${top}"`;
  const name = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  name.textContent = title;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" font-family="system-ui, sans-serif">`,
    name.outerHTML,
    `<rect width="${width}" height="${top}" fill="${colours.page}"/>`,
    `${svg.innerHTML.replaceAll(/(\d\.\d)\d{3,}/g, '$1')}</svg>`,
    '',
  ].join('\n');
}

function legendPlot(entries: Legend, columns: number): PicturePlot {
  const rows = Math.ceil(entries.length / columns);
  const cells = entries.map(([word, fill], i) => {
    return { word, fill, x: i % columns, y: Math.floor(i / columns) };
  });
  const place = { x: 'x', y: 'y' };
  return {
    height: rows * legendRowHeight + 16,
    marginLeft: 40,
    marginTop: 10,
    marginBottom: 26,
    axis: null,
    x: { domain: [0, columns] },
    y: { domain: [0, Math.max(1, rows - 1)], reverse: true },
    marks: [
      Plot.dot(cells, { ...place, fill: 'fill', symbol: 'square', r: 5 }),
      Plot.text(cells, { ...place, text: 'word', textAnchor: 'start', dx: 12 }),
    ],
  };
}
