/** What a client takes, by its headers Accept and Accept-Encoding (RFC 9110 §12.5). */

/** Whether the list names this thing, and not with the quality 0, which means: anything but this. */
export function accepts(list: string | undefined, name: string): boolean {
  // Most clients name nothing that matters here.
  if (list === undefined || !list.toLowerCase().includes(name)) return false;
  for (const item of list.toLowerCase().split(',')) {
    const [named = '', ...parameters] = item.split(';');
    if (named.trim() === name) return !parameters.some(isRefusal);
  }
  return false;
}

function isRefusal(parameter: string): boolean {
  const [key = '', value = ''] = parameter.split('=');
  return key.trim() === 'q' && Number(value) === 0;
}
