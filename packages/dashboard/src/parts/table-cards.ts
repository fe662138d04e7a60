/**
 * Prepares tables for narrow screens, where each row is shown as a card: every cell gets the words of its column, which
 * the style sheet puts in front of it, and roles, which keep a table a table for screen readers. One watcher does it
 * for all tables of the page, whichever view draws them.
 */

export function prepareTables(root: HTMLElement): void {
  let isAsked = false;
  const prepare = (): void => {
    isAsked = false;
    for (const table of root.querySelectorAll('table')) prepareTable(table);
  };
  const ask = (): void => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(prepare);
  };
  new MutationObserver(ask).observe(root, { childList: true, subtree: true });
}

function prepareTable(table: HTMLTableElement): void {
  const titles = Array.from(table.tHead?.rows[0]?.cells ?? [], (cell) => cell.textContent ?? '');
  table.setAttribute('role', 'table');
  for (const row of table.rows) {
    row.setAttribute('role', 'row');
    for (const cell of row.cells) {
      const isTitle = cell.tagName === 'TH';
      cell.setAttribute('role', isTitle ? 'columnheader' : 'cell');
      const title = titles[cell.cellIndex] ?? '';
      if (!isTitle && title !== '' && cell.dataset['title'] !== title)
        cell.dataset['title'] = title;
    }
  }
}
