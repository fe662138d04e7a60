import { defineConfig } from 'vitest/config';

/** One vitest project a package, so that `npm test -w packages/NAME` runs that package alone. */
const packages = ['core', 'placement', 'ring', 'server', 'client', 'cli', 'sim'];
const conditions = ['source', 'node', 'import', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      ...packages.map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`packages/${name}/{src,scenarios}/**/*.test.ts`],
          testTimeout: 60_000,
        },
      })),
      {
        extends: true as const,
        test: { name: 'scripts', include: ['scripts/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        extends: true as const,
        test: {
          name: 'examples',
          include: ['examples/**/*.test.ts', 'deploy/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        extends: true as const,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
