// Makes the release in release/: a tarball with its installer, Debian packages of runner, its bell and its fleet, a
// package for npm, the list of what is bundled (SBOM) and checksums. Twice the same from the same commit.
//
//   node scripts/package/main.mjs [--to FOLDER] [--dist FOLDER]
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkout, say } from '../tasks/checkout.mjs';
import { makeArchive, sumsOf, writeText } from './archive.mjs';
import { makeBellPackage, makeDebianPackages } from './debian.mjs';
import { thirdPartyText } from './licences.mjs';
import { makeNpmPackage } from './npm.mjs';
import { bomOf } from './sbom.mjs';
import { releaseTree } from './tree.mjs';

const { values } = parseArgs({
  options: {
    to: { type: 'string', default: join(checkout, 'release') },
    dist: { type: 'string', default: join(checkout, 'dist') },
  },
});

/** Seconds since 1970 that every file of the release bears: those of the commit, unless given. */
function sourceDate() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined && /^\d+$/.test(given)) return Number(given);
  const asked = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: checkout });
  // Without git, as from an archive of the source: the beginning of the calendar of DOS.
  return asked.status === 0 ? Number(asked.stdout.toString().trim()) : 315_532_800;
}

const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
const packages = JSON.parse(readFileSync(join(values.dist, 'packages.json'), 'utf8'));
const release = {
  version,
  date: sourceDate(),
  dist: values.dist,
  to: resolve(values.to),
  bom: bomOf(version, packages),
  licences: thirdPartyText(packages),
};
// Folders of the release are open to read, whatever the builder's own files are.
process.umask(0o022);
const work = mkdtempSync(join(tmpdir(), 'runner-release-'));
try {
  rmSync(release.to, { recursive: true, force: true });
  mkdirSync(release.to, { recursive: true });
  const tree = releaseTree(release, join(work, `runner-${version}`));
  makeArchive(tree, join(release.to, `runner-${version}.tar.gz`), release.date);
  makeDebianPackages(release, tree, join(work, 'debian'), join(work, 'fleet'));
  makeBellPackage(release, join(work, 'bell'));
  makeNpmPackage(release, join(work, 'npm', 'package'));
  writeText(join(release.to, `runner-${version}.cdx.json`), release.bom);
  writeText(join(release.to, 'SHA256SUMS'), sumsOf(release.to));
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const name of readdirSync(release.to).sort()) say(`release/${name}`);
