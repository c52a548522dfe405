/** The page in a browser: readable for all, on every screen, and nothing leaves it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromiumPath, type Page, startChromium } from '@runner/testing/chromium';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import axe from 'axe-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fillRoot } from '../../../scripts/demo/history/main.ts';
import { makeEyesRoot, record } from '../../../tests/eyes/root.ts';
import { COMMITS, deployOf, failedBuild, rootWith } from './samples.ts';

const inBrowser = chromiumPath === undefined ? test.skip : test;
if (chromiumPath === undefined)
  process.stdout.write('skipped: Chromium is not installed (Debian package chromium)\n');

const SCREENS = [360, 800, 1600].flatMap((width) => [false, true].map((dark) => ({ width, dark })));

/** Draws the page of a root and opens it. */
async function withPage(root: string, use: (page: Page) => Promise<void>): Promise<void> {
  const file = join(temporaryFolder('page'), 'report.html');
  const { status, stderr } = await run('runner-report', ['--html', file, '--offline'], { root });
  assert.is(status, 0, stderr);
  const browser = startChromium();
  try {
    const page = await browser.open(file);
    await use(page);
    assert.is(page.requests.length, 1, page.requests.join(' '));
  } finally {
    browser.close();
  }
}

/** Checks every screen, and paper: axe finds nothing, and nothing is wider than the screen. */
async function checkScreens(page: Page): Promise<void> {
  await page.evaluate(`${axe.source}; 0`);
  for (const screen of [...SCREENS, { width: 794, print: true }]) {
    await page.show(screen);
    const found = await page.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) =>
        id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(' ')))`,
    );
    assert.equal(found, [], JSON.stringify(screen));
    const wide = await page.evaluate(
      `document.documentElement.scrollWidth <= ${screen.width} ? [] : [...document.querySelectorAll("body *")].filter((each) => !each.closest('svg, .x, .versions *') &&
        each.getBoundingClientRect().right > ${screen.width + 1}).map((each) => each.outerHTML.slice(0, 99))`,
    );
    assert.equal(wide, [], JSON.stringify(screen));
  }
}

inBrowser('half a year of deploys: axe finds nothing, and no request leaves the page', async () => {
  const root = temporaryFolder('report');
  await fillRoot(root, Date.now());
  await withPage(root, async (page) => {
    await checkScreens(page);
    await page.show({ width: 800 });
    const scripts = await page.evaluate("document.querySelectorAll('script, [onclick]').length");
    assert.is(scripts, 0);
    // Without a mouse: what can be used is reached in the order of the page, and shows its focus.
    const hidden = await page.evaluate(
      `[...document.querySelectorAll('a, summary')].filter((each) => {
        each.focus({ focusVisible: true });
        return document.activeElement !== each || getComputedStyle(each).outlineStyle === 'none';
      }).length`,
    );
    assert.is(hidden, 0);
  });
});

inBrowser('hostile names run nothing, load nothing and break no layout', async () => {
  const nasty = [
    '</script><script>window.bad = 1</script>',
    '"><img src="http://127.0.0.1:9/x" onerror="window.bad = 1">',
    '</style><link rel="stylesheet" href="http://127.0.0.1:9/y">',
    `\u202e${'unbreakable'.repeat(40)}`,
    '\u0000\u001b[2J\ud800',
    'W\u0300\u0301\u0302'.repeat(60),
  ];
  const records = nasty.flatMap((text, index) => {
    const own = { project: text, version: text, subject: text, user: text, instance: text };
    const end = index % 2 === 0 ? {} : failedBuild(text);
    return deployOf(1 + index, { ...own, commit: COMMITS[0] }, end);
  });
  await withPage(rootWith(records), async (page) => {
    await checkScreens(page);
    assert.is(await page.evaluate('window.bad'), undefined);
    assert.is(await page.evaluate("document.querySelectorAll('img, script, link').length"), 0);
  });
});

inBrowser('long names of apps and jobs break no word of a table and cover no cell', async () => {
  const paths = makeEyesRoot();
  const { jobs } = paths.app('shop');
  const book = readFileSync(jobs, 'utf8').replaceAll('"report"', '"nightly-report-of-all-shops"');
  writeFileSync(jobs, book);
  const common = {
    project: `${'long'.repeat(14)}-name`,
    deploy_id: 'long0000',
    commit: COMMITS[0],
  };
  for (const event_type of ['DeployStarted', 'DeploySuccess'])
    record(paths, { ...common, event_type, user: 'root', timestamp: new Date().toISOString() });
  await withPage(paths.root, async (page) => {
    for (const width of [360, 800, 900, 1000, 1600]) {
      await page.show({ width });
      const covered =
        await page.evaluate(`[...document.querySelectorAll('.deploys tbody tr')].flatMap((tr) => {
        const boxes = [...tr.cells].map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return { cell, box: range.getBoundingClientRect() };
        }).filter(({ box }) => box.width > 0);
        return boxes.flatMap(({ cell, box: a }, index) => boxes.slice(index + 1)
          .filter(({ box: b }) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
          .map((other) => cell.textContent + ' | ' + other.cell.textContent));
      })`);
      assert.equal(covered, [], `covered at ${width}`);
      const broken = await page.evaluate(`[...document.querySelectorAll('th, .by bdi, .app bdi')]
        .filter((each) => {
          const range = document.createRange();
          range.selectNodeContents(each);
          const isShown = each.offsetParent && each.closest('thead')?.offsetWidth !== 1;
          return isShown && each.textContent.length < 6 && range.getClientRects().length > 1;
        })
        .map((each) => each.textContent)`);
      assert.equal(broken, [], `broken at ${width}`);
    }
  });
});

test('100,000 records of 10,000 apps fit a page of 2 MB', async () => {
  const records = Array.from({ length: 50_000 }, (_, index) => {
    const end = index % 7 === 0 ? failedBuild(`cannot find <${'x'.repeat(index % 300)}>`) : {};
    const own = {
      version: `v${index}`,
      subject: '&'.repeat(200),
      project: `app-${(index * 7) % 10_000}`,
    };
    return deployOf(2000 - index / 25, { ...own, deploy_id: String(index).padStart(8, '0') }, end);
  }).flat();
  const file = join(temporaryFolder('page'), 'report.html');
  const { status } = await run('runner-report', ['--html', file], { root: rootWith(records) });
  assert.is(status, 0);
  assert.ok(existsSync(file) && readFileSync(file).length < 2_000_000);
});

test.run();
