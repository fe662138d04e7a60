/** The shapes of the pictures of trouble: wide and narrow, light and dark. `docs/images/` keeps all of them. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';

const shapes = [
  [1440, 'light'],
  [1440, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const;

export interface PictureOptions {
  readonly executable: string;
  /** The folder that the pictures go to. */
  readonly images: string;
}

export interface Shot {
  readonly name: string;
  /** Of the wide window. */
  readonly height: number;
  /** Shown anew for each shape; default: the present page stays. */
  readonly show?: () => Promise<void>;
}

/** Takes a page in every shape. */
export async function takeShapes(page: Page, images: string, shot: Shot): Promise<void> {
  for (const [width, colorScheme] of shapes) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : shot.height });
    await page.emulateMedia({ colorScheme });
    await shot.show?.();
    await sleep(1500);
    const path = join(images, `dashboard-${shot.name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path });
  }
}
