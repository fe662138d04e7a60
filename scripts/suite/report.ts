/** Reads the reports of vitest's reporter `json`: the tests that failed and the tests that were skipped. */

/** As far as it is read here. */
export interface Report {
  readonly testResults: readonly {
    /** The path of the test file. */
    readonly name: string;
    readonly status: string;
    /** Why the file could not be run; empty when its tests ran. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

export interface FailedFile {
  readonly path: string;
  /** Each test that failed with the first lines of its message, or why the file could not be run. */
  readonly reasons: readonly string[];
}

/** Their tool is neither in Debian nor in npm. */
const mayBeSkipped = /\bhelm\b/;
const linesOfMessage = 12;

/** Without the tests that may be skipped. */
export function skippedIn({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, fullName }) => isSkipped(status) && !mayBeSkipped.test(fullName))
      .map(({ fullName }) => `${name} ${fullName}`),
  );
}

export function failedIn({ testResults }: Report): FailedFile[] {
  return testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name, message, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      const ofTests = failed.map(
        ({ fullName, failureMessages }) =>
          `${fullName}\n${firstLines(failureMessages?.at(-1) ?? '')}`,
      );
      return { path: name, reasons: ofTests.length > 0 ? ofTests : [firstLines(message)] };
    });
}

function isSkipped(status: string): boolean {
  return status === 'skipped' || status === 'pending' || status === 'todo';
}

function firstLines(message: string): string {
  return message.split('\n').slice(0, linesOfMessage).join('\n');
}
