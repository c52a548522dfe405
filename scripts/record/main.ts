/**
 * `npm run record`: redraws docs/messages.html and docs/images/: the demo's session, and with Chromium
 * the messages and the report; `-- messages`, `-- demo` or `-- report` draws a part.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoSvg, played } from './demo.ts';
import { messagePictures, messagesPage } from './messages.ts';
import { reportPictures } from './report.ts';

const IMAGES = join(process.cwd(), 'docs', 'images');

async function record(wanted: string | undefined): Promise<void> {
  mkdirSync(IMAGES, { recursive: true });
  const save = (name: string, picture: string | Buffer) => {
    writeFileSync(join(IMAGES, name), picture);
    process.stdout.write(`docs/images/${name}: ${Math.ceil(picture.length / 1024)} KB\n`);
  };
  const draws = (part: string) => wanted === undefined || wanted === part;
  if (draws('messages')) {
    const html = await messagesPage();
    writeFileSync(join(IMAGES, '../messages.html'), html);
    for (const [name, picture] of await messagePictures(html)) save(name, picture);
  }
  if (draws('demo')) save('demo.svg', demoSvg(await played()));
  if (draws('report')) for (const [name, png] of await reportPictures()) save(name, png);
}

record(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`record: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
