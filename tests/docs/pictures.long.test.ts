/** docs/images/ shows what the runner does today; `npm run record` redraws it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { demoSvg, played } from '../../scripts/record/demo.ts';
import { messagePictures } from '../../scripts/record/pictures.ts';
import { linesIn } from '../../scripts/record/session-svg.ts';
import { masked } from './console.ts';
import { textOf as pageText } from './pages.ts';

const image = (name: string) => readFileSync(join(process.cwd(), 'docs/images', name), 'utf8');

test('the pictures of messages are what is sent, and a page shows each', async () => {
  const pictures = await messagePictures();
  assert.is(pictures.length, 8);
  const shown = pageText('docs/notifications.md') + pageText('docs/notify-messages.md');
  for (const [name, svg] of pictures) {
    assert.is(image(name), svg, `docs/images/${name}: npm run record -- messages`);
    assert.ok(shown.includes(`images/${name}`), `${name} is shown`);
  }
});

/** What the lines say, without what differs from run to run: ports and names of folders too. */
function story(svg: string): string {
  const text = linesIn(svg).join('\n');
  const same = text.replace(/127\.0\.0\.1:\d+/g, '<host>').replace(/runner-demo-\w+/g, '<folder>');
  return masked(same).join('\n');
}

test('the session of the README is what the demo shows', async () => {
  assert.is(story(image('demo.svg')), story(demoSvg(await played())), 'npm run record -- demo');
});

test('no picture loads anything from elsewhere', () => {
  const names = ['demo.svg', 'telegram-failure.svg', 'discord-failure.svg'];
  for (const name of names) {
    const addresses = image(name).match(/(?:href|src)=|@import|url\(/g) ?? [];
    assert.equal(addresses, [], name);
  }
});

test.run();
