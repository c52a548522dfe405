import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../bundle/place.mjs';
import { checkout } from '../tasks/checkout.mjs';
import { copy, writeText } from './archive.mjs';

/** What of dist runs; the rest of it is for a checkout. */
export const RUNS = ['bin', 'lib', 'package.json'];

/** What a file of the release may be: of the modes that the builder's umask left, only this counts. */
const modeOf = (path) => ((statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);

/** Copies parts of dist, folders or files, to a folder, with their modes. */
export function copyDist(dist, parts, folder) {
  for (const part of parts) {
    const path = join(dist, part);
    if (!existsSync(path)) continue;
    const files = statSync(path).isDirectory()
      ? filesBelow(path).map((f) => `${part}/${f}`)
      : [part];
    for (const file of files) {
      copy(join(dist, file), join(folder, file), modeOf(join(dist, file)));
    }
  }
}

/** Pages outside docs/ that link to each other. */
export const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'bench/figures.md',
];

/** The licences, the list of what is bundled and the page for readers, in any package. */
export function writePapers(release, folder) {
  for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md']) {
    copy(join(checkout, name), join(folder, name));
  }
  writeText(join(folder, 'THIRD-PARTY.txt'), release.licences);
  writeText(join(folder, 'sbom.cdx.json'), release.bom);
}

/** Makes the folder that the tarball holds and that `install` installs from; returns it. */
export function releaseTree(release, folder) {
  copyDist(release.dist, [...RUNS, 'share'], folder);
  for (const file of filesBelow(join(checkout, 'packaging'))) {
    if (file.startsWith('debian/')) continue;
    const from = join(checkout, 'packaging', file);
    copy(from, join(folder, 'packaging', file), modeOf(from));
  }
  for (const file of filesBelow(join(checkout, 'docs'))) {
    copy(join(checkout, 'docs', file), join(folder, 'docs', file));
  }
  for (const name of PAGES) copy(join(checkout, name), join(folder, name));
  copy(join(checkout, 'scripts/install'), join(folder, 'install'), 0o755);
  writePapers(release, folder);
  return folder;
}
