/** The pages in a browser: readable for all, on every screen, light and dark. `PAGE_PICTURES` names a folder for pictures. */
import { writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { join } from 'node:path';
import { writeApp } from '@runner/common/apps/store';
import { freePort } from '@runner/testing/app';
import { chromiumPath, startChromium } from '@runner/testing/chromium';
import { atExit } from '@runner/testing/cleanup';
import { until } from '@runner/testing/until';
import axe from 'axe-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { canShare, startDashboard } from '../../../tests/eyes/dashboard.ts';
import { failedState, HOSTILE, logLine, makeEyesRoot } from '../../../tests/eyes/root.ts';

const inBrowser = chromiumPath === undefined || !canShare ? test.skip : test;
const WIDTHS = [360, 800, 1600, 3840];

inBrowser(
  'axe finds nothing, nothing is wider than the screen, and what changes is shown',
  async () => {
    const paths = makeEyesRoot(12, true);
    writeApp(
      paths,
      failedState(
        'blog',
        `src/shop.ts:3: Cannot find module ${HOSTILE}${'unbreakable'.repeat(30)}`,
      ),
    );
    for (let line = 0; line < 30; line += 1)
      logLine(paths, 'shop', `[build] step ${line} of a long line ${'x'.repeat(line * 6)}`);
    const { port, stderr } = await startDashboard(paths.root);
    const browser = startChromium();
    try {
      for (const path of ['/', '/app/shop', '/app/blog', '/nope']) {
        const page = await browser.open(`http://127.0.0.1:${port}${path}`);
        await page.evaluate(`${axe.source}; 0`);
        for (const width of WIDTHS)
          for (const dark of [false, true]) {
            await page.show({ width, dark });
            const found = await page.evaluate(
              `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(' ')))`,
            );
            const at = `${path} at ${width}${dark ? ', dark' : ''}`;
            assert.equal(found, [], `${at} ${stderr()}`);
            assert.ok(
              await page.evaluate(`document.documentElement.scrollWidth <= ${width}`),
              `${at} is too wide`,
            );
            const folder = process.env.PAGE_PICTURES;
            if (folder)
              writeFileSync(
                join(folder, `${path.replaceAll('/', '_')}-${width}${dark ? '-dark' : ''}.png`),
                await page.picture(),
              );
          }
        if (path === '/nope') continue;
        assert.is(await page.evaluate("document.querySelectorAll('img, link, iframe').length"), 0);
        const mark = `news of ${path}`;
        if (path === '/app/blog') writeApp(paths, failedState('blog', mark));
        else logLine(paths, 'shop', mark);
        await until(
          async () =>
            (await page.evaluate(`document.body.textContent.includes(${JSON.stringify(mark)})`)) ===
            true,
          () => `${mark} is not shown`,
        );
      }
    } finally {
      browser.close();
    }
  },
);

inBrowser('a page whose proxy answered 502 is live again once the dashboard is back', async () => {
  const paths = makeEyesRoot(3, true);
  const { port } = await startDashboard(paths.root);
  let isDown = false;
  const proxy = createServer(({ url }, response) => {
    if (isDown) return void response.writeHead(502).end();
    get({ port, path: url, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
      response.once('close', () => answer.destroy());
    });
  });
  const own = await freePort();
  proxy.listen(own, '127.0.0.1');
  atExit(() => proxy.closeAllConnections());
  const browser = startChromium();
  try {
    const page = await browser.open(`http://127.0.0.1:${own}/`);
    const shows = (text: string) =>
      until(
        async () => String(await page.evaluate('document.body.textContent')).includes(text),
        () => `${text} is not shown`,
      );
    await shows('Live.');
    isDown = true;
    proxy.closeAllConnections();
    await shows('connection is lost');
    await until(
      async () => page.requests.filter((url) => url.endsWith('/events')).length > 1,
      'the browser does not try again',
    );
    isDown = false;
    await shows('Live.');
  } finally {
    browser.close();
    proxy.close();
    proxy.closeAllConnections();
  }
});

test.run();
