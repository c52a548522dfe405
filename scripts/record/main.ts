/**
 * `npm run record`: redraws docs/images/: the demo's session and the messages in the chats;
 * `-- messages` or `-- demo` draws a part.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoSvg, played } from './demo.ts';
import { messagePictures } from './pictures.ts';

const IMAGES = join(process.cwd(), 'docs', 'images');

async function record(wanted: string | undefined): Promise<void> {
  mkdirSync(IMAGES, { recursive: true });
  const save = (name: string, svg: string) => {
    writeFileSync(join(IMAGES, name), svg);
    process.stdout.write(`docs/images/${name}: ${Math.ceil(svg.length / 1024)} KB\n`);
  };
  if (wanted !== 'demo') for (const [name, svg] of await messagePictures()) save(name, svg);
  if (wanted !== 'messages') save('demo.svg', demoSvg(await played()));
}

record(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`record: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
