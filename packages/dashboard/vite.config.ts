/**
 * Builds the dashboard into the server package, which carries and serves it. Everything is a file of its own origin,
 * nothing is inlined: the page is served under a strict content security policy.
 */
import { join } from 'node:path';
import { defineConfig } from 'vite';

const member = 'http://127.0.0.1:7253';

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  resolve: { conditions: ['source', 'browser', 'module', 'import', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../server/dist/dashboard',
    assetsDir: 'dashboard',
    assetsInlineLimit: 0,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'docs.html'].map((page) => join(import.meta.dirname, page)),
    },
  },
  // For working on it: `npm run dev -w packages/dashboard` beside a member on its usual port.
  server: {
    proxy: Object.fromEntries(
      ['events', 'samples', 'timers', 'dead-letters', 'locks', 'whoami', 'openapi.json'].map(
        (path) => [`/${path}`, member],
      ),
    ),
  },
});
