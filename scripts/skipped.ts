/**
 * The tests that a report of vitest calls skipped, without the ones that may be: their tool is neither in Debian nor in
 * npm.
 */

/** As the reporter `json` of vitest writes it, as far as it is read here. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const mayBeSkipped = /\bhelm\b/;

export function skippedIn({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, fullName }) => isSkipped(status) && !mayBeSkipped.test(fullName))
      .map(({ fullName }) => `${name} ${fullName}`),
  );
}

function isSkipped(status: string): boolean {
  return status === 'skipped' || status === 'pending' || status === 'todo';
}
