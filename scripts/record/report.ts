/** Pictures of the report of the made-up history, drawn by Chromium. */
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startChromium } from '@runner/testing/chromium';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { fillRoot } from '../demo/history/main.ts';

const SCREENS = [
  { name: 'report-wide.png', width: 1600, height: 1640 },
  { name: 'report-dark.png', width: 800, height: 1180, dark: true },
  { name: 'report-narrow.png', width: 360, height: 1180 },
] as const;

/** The pictures as [file, PNG] pairs. */
export async function reportPictures(): Promise<(readonly [string, Buffer])[]> {
  const root = temporaryFolder('report');
  await fillRoot(root, Date.now());
  const file = join(root, 'report.html');
  const { status, stderr } = await run('runner-report', ['--html', file, '--since', '90d'], {
    root,
  });
  if (status !== 0) throw new Error(stderr);
  // The name of the machine that draws does not matter.
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`<bdi>${hostname()}</bdi>`, 'web-1'));
  const browser = startChromium();
  try {
    const page = await browser.open(file);
    const pictures: (readonly [string, Buffer])[] = [];
    for (const screen of SCREENS) {
      await page.show(screen);
      pictures.push([screen.name, await page.picture(screen.height)]);
    }
    return pictures;
  } finally {
    browser.close();
  }
}
