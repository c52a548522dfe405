/**
 * `npm run record`: redraws docs/images/: the demo's session, the messages in the chats and the report
 * (with Chromium); `-- messages`, `-- demo` or `-- report` draws a part.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoSvg, played } from './demo.ts';
import { messagePictures } from './pictures.ts';
import { reportPictures } from './report.ts';

const IMAGES = join(process.cwd(), 'docs', 'images');

async function record(wanted: string | undefined): Promise<void> {
  mkdirSync(IMAGES, { recursive: true });
  const save = (name: string, picture: string | Buffer) => {
    writeFileSync(join(IMAGES, name), picture);
    process.stdout.write(`docs/images/${name}: ${Math.ceil(picture.length / 1024)} KB\n`);
  };
  const draws = (part: string) => wanted === undefined || wanted === part;
  if (draws('messages')) for (const [name, svg] of await messagePictures()) save(name, svg);
  if (draws('demo')) save('demo.svg', demoSvg(await played()));
  if (draws('report')) for (const [name, png] of await reportPictures()) save(name, png);
}

record(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`record: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
