/** The Chromium that the dashboard is tested in. Run alone it prints where Chromium is. */
import { type Tool, toolForTests } from './debian.ts';

const chromium: Tool = {
  programs: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
  packages: ['chromium'],
  tests: 'the dashboard in a browser',
};

/** For a browser that tests own: no window, no profile of anybody, no traffic of its own. */
export const chromiumFlags: readonly string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Its path; null when there is none and none can be had, which with CI set is an error. */
export function chromiumForTests(): string | null {
  return toolForTests(chromium);
}

if (import.meta.main) console.log(chromiumForTests() ?? 'no chromium');
