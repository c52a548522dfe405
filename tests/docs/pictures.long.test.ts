/** docs/images/ shows what the runner does today; `npm run record` redraws it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { demoSvg, played } from '../../scripts/record/demo.ts';
import { messagesPage, PICTURES } from '../../scripts/record/messages.ts';
import { linesIn } from '../../scripts/record/session-svg.ts';
import { masked } from './console.ts';
import { textOf as pageText } from './pages.ts';

const image = (name: string) => readFileSync(join(process.cwd(), 'docs/images', name), 'utf8');

test('the documented messages are those sent, and their pictures are on a page, light and dark', async () => {
  const page = readFileSync(join(process.cwd(), 'docs/messages.html'), 'utf8');
  assert.is(page, await messagesPage(), 'npm run record -- messages');
  const shown = pageText('docs/notifications.md');
  for (const { name } of PICTURES) {
    assert.ok(existsSync(join(process.cwd(), 'docs/images', name)), name);
    assert.ok(shown.includes(`images/${name}`), `${name} is shown`);
  }
});

/** What the lines say, without what differs from run to run: ports and names of folders too. */
function story(svg: string): string {
  const text = linesIn(svg).join('\n');
  const same = text.replace(/127\.0\.0\.1:\d+/g, '<host>').replace(/runner-demo-\w+/g, '<folder>');
  return masked(same).join('\n');
}

test('the session in the README matches the demo', async () => {
  assert.is(story(image('demo.svg')), story(demoSvg(await played())), 'npm run record -- demo');
});

test('no picture loads anything from elsewhere', () => {
  for (const name of ['demo.svg', '../messages.html']) {
    const addresses = image(name).match(/src=|<link|@import|url\(/g) ?? [];
    assert.equal(addresses, [], name);
  }
});

test.run();
