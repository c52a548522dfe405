/**
 * One changed byte of a release, its `.deploy.yml`, unit, link, environment or statement is found.
 * VERIFY_COUNT=n changes how many are tried, VERIFY_SEED=n which.
 */
import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { randomOf } from '@runner/testing/random';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeUnitWorld } from './unit-world.ts';

const COUNT = Number(process.env.VERIFY_COUNT ?? 60);
const SEED = Number(process.env.VERIFY_SEED ?? 29);
const FILE = `start: { type: systemd, unit: shop.service }
build:
  - mkdir -p dist/lib && ln -s lib/a.js dist/main
  - for each in a b c d; do seq 1 400 > dist/lib/$each.js; done
  - head -c 3000000 /dev/zero > dist/large
  - printf x > dist/one
`;

/** Changes one byte; returns what takes it back. Names keep to what a link may lead to. */
function changeByte(path: string, random: () => number): () => void {
  const isLink = lstatSync(path).isSymbolicLink();
  const before = isLink ? Buffer.from(readlinkSync(path)) : readFileSync(path);
  const after = Buffer.from(before);
  const at = Math.floor(random() * after.length);
  after[at] = (after[at] as number) ^ (1 << Math.floor(random() * 5)) || 0x7f;
  const write = (bytes: Buffer) => {
    if (!isLink) return writeFileSync(path, bytes);
    unlinkSync(path);
    symlinkSync(bytes, path);
  };
  write(after);
  return () => write(before);
}

const test = suite('one byte');

test(`${COUNT} changed bytes are found, and none when they are back`, async () => {
  const world = await makeUnitWorld();
  await world.push('v1', { deploy: FILE });
  const { status, stderr } = await world.deploy([], world.env);
  assert.is(status, 0, stderr);
  const app = join(world.root, 'apps/shop');
  const name = basename(world.current() ?? '');
  const release = join(app, 'releases', name);
  const files = readdirSync(release, { recursive: true, withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map((each) => join(each.parentPath, each.name));
  const places: Record<string, string[]> = {
    release: files,
    unit: [world.unit, world.dropIn],
    link: [join(app, 'instances/default/current')],
    env: [world.envFile],
    'deploy file': [join(app, `files/${name}.deploy.yml`)],
    statement: [join(app, `files/${name}.statement.json`), join(app, `files/${name}.tree`)],
  };
  const random = randomOf(SEED);
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const tally: Record<string, number> = {};
  for (let tried = 0; tried < COUNT; tried += 1) {
    const what = Object.keys(places)[tried % 6] as string;
    const path = pick(places[what] as string[]);
    const undo = changeByte(path, random);
    const found = await world.verify();
    const shown = what === 'release' ? path.slice(release.length + 1) : path;
    const isFound = found.stdout.includes(`: ${shown} `);
    assert.ok(
      found.status === 1 && isFound,
      `${path}: ${found.status}\n${found.stdout}${found.stderr}`,
    );
    undo();
    tally[what] = (tally[what] ?? 0) + 1;
  }
  const good = await world.verify();
  assert.is(good.status, 0, good.stdout);
  const counts = Object.entries(tally).map(([what, count]) => `${what} ${count}`);
  console.log(`(${COUNT} of ${COUNT} found: ${counts.join(', ')})`);
  await world.close();
});

test.run();
