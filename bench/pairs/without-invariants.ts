/** `node --import` this: the sources of Carillon are loaded without their invariants. */
import { registerHooks } from 'node:module';
import { strip } from './strip-invariants.ts';

let count = 0;
process.on('exit', () => console.error(`${count} invariants were left out.`));

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const isOurs = url.includes('/packages/') && !url.includes('/node_modules/');
    if (!isOurs || !(loaded.source instanceof Uint8Array)) return loaded;
    const stripped = strip(Buffer.from(loaded.source).toString());
    count += stripped.count;
    return { ...loaded, source: stripped.text };
  },
});
