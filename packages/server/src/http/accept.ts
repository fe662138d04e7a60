/** Content negotiation by the headers Accept and Accept-Encoding (RFC 9110 §12.5). */

/** Whether the list names this media type or coding with a quality other than 0, which would refuse it. */
export function accepts(list: string | undefined, name: string): boolean {
  // Most clients send no list, or one without this name.
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
