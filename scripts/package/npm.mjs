import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../bundle/place.mjs';
import { checkout } from '../tasks/checkout.mjs';
import { makeArchive, writeText } from './archive.mjs';
import { copyDist, RUNS, writePapers } from './tree.mjs';

/** Makes runner-cli-<version>.tgz: every executable is a command of it, and it depends on nothing. */
export function makeNpmPackage(release, folder) {
  const { dist, version, to } = release;
  copyDist(dist, [...RUNS, 'share'], folder);
  writePapers(release, folder);
  const root = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const programs = readdirSync(join(dist, 'bin')).sort();
  const pages = filesBelow(join(folder, 'share')).filter((file) => file.startsWith('man/'));
  const manifest = {
    name: 'runner-cli',
    version,
    description: root.description,
    license: root.license,
    type: 'commonjs',
    engines: root.engines,
    os: ['linux'],
    bin: Object.fromEntries(programs.map((name) => [name, `bin/${name}`])),
    man: pages.map((file) => `./share/${file}`),
  };
  writeText(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  makeArchive(folder, join(to, `runner-cli-${version}.tgz`), release);
}
