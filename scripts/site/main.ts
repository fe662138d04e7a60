/** `npm run site [-- FOLDER]`: the site from README.md, docs/ and the types of the packages, as static files. */
import { resolve } from 'node:path';
import { buildSite } from './build.ts';

const target = resolve(process.argv[2] ?? '.cache/site-built');
await buildSite(target);
console.log(`The site is in ${target}; any server of static files shows it.`);
