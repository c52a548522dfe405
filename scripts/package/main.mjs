// Makes the release in release/: tarballs with their installer, Debian packages of runner, its bell, dashboard, fleet
// and server for agents, a package for npm, the lists of what is bundled (SBOM) and checksums. Twice the same from the same
// commit.
//
//   node scripts/package/main.mjs [--to FOLDER] [--dist FOLDER] [--arch all,amd64,arm64] [--quick]
//
// `all` runs on the system's Node, the others bring their own. --quick hardly compresses.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkout, say } from '../tasks/checkout.mjs';
import { makeArchive, sumsOf, writeText } from './archive.mjs';
import { makeDebianPackages } from './debian.mjs';
import { thirdPartyText } from './licences.mjs';
import { NODE, placeNode } from './node.mjs';
import { makeNpmPackage } from './npm.mjs';
import { bomOf } from './sbom.mjs';
import { releaseTree } from './tree.mjs';

const { values } = parseArgs({
  options: {
    to: { type: 'string', default: join(checkout, 'release') },
    dist: { type: 'string', default: join(checkout, 'dist') },
    arch: { type: 'string', default: 'all,amd64,arm64' },
    quick: { type: 'boolean', default: false },
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
const base = {
  version,
  date: sourceDate(),
  dist: values.dist,
  to: resolve(values.to),
  licences: thirdPartyText(packages),
  level: values.quick ? 0 : 6,
};
/** What Node calls the architectures of Debian. */
const NODES = { amd64: 'x64', arm64: 'arm64' };

/** The packages of one architecture. */
function makeRelease(arch, work) {
  const node = NODES[arch];
  const long = node === undefined || values.quick ? '' : ', which takes minutes';
  say(`package: making the packages for ${arch}${long}`);
  const bom = bomOf(version, node === undefined ? packages : [...packages, NODE]);
  const release = { ...base, arch, bom };
  const name = node === undefined ? '' : `-linux-${node}`;
  const tree = releaseTree(release, join(work, `runner-${version}`));
  if (node !== undefined) placeNode(node, tree, join(work, 'node'));
  const archive = `runner-${version}${name}.tar.${node === undefined ? 'gz' : 'xz'}`;
  makeArchive(tree, join(base.to, archive), release);
  makeDebianPackages(release, tree, work);
  writeText(join(base.to, `runner-${version}${name}.cdx.json`), bom);
  if (node !== undefined) return;
  makeNpmPackage(release, join(work, 'npm', 'package'));
}

// Folders of the release are open to read, whatever the builder's own files are.
process.umask(0o022);
const work = mkdtempSync(join(tmpdir(), 'runner-release-'));
try {
  rmSync(base.to, { recursive: true, force: true });
  mkdirSync(base.to, { recursive: true });
  for (const arch of values.arch.split(',')) makeRelease(arch, join(work, arch));
  writeText(join(base.to, 'SHA256SUMS'), sumsOf(base.to));
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const name of readdirSync(base.to).sort()) say(`release/${name}`);
