/** `npm run bench`: runs every benchmark of this folder, or with `--only NAME` one of them. */
const names = ['wheel', 'store', 'journal'];

interface Bench {
  run(report: (line: string) => void): Promise<Record<string, unknown>>;
}

const at = process.argv.indexOf('--only');
const wanted = at < 0 ? names : names.filter((name) => name === process.argv[at + 1]);
if (wanted.length === 0) {
  console.error(`There is no such benchmark; choose one of: ${names.join(', ')}.`);
  process.exitCode = 2;
}
for (const name of wanted) {
  const bench = (await import(`./${name}.ts`)) as Bench;
  await bench.run((line) => console.log(line));
}
