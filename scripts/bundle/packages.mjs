import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../tasks/checkout.mjs';

/** Licences that ask for no more than the notice that the bundle keeps. */
const LICENCES = [
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'Unlicense',
];

/** The folder of the package that a source belongs to, relative to the checkout; else undefined. */
function folderOf(source) {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
}

/**
 * The packages that sources of bundles (paths relative to the checkout) come from, by name:
 * [{ name, version, license, folder }]. The bill of materials and the licences come from this list alone.
 * Throws when the licence of a package does not allow the bundle.
 */
export function packagesOf(sources, root = checkout) {
  const folders = new Set(sources.map(folderOf).filter((folder) => folder !== undefined));
  return [...folders]
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const { name, version, license } = manifest;
      if (!LICENCES.includes(license)) throw new Error(`${name}: ${license} is not in LICENCES`);
      return { name, version, license, folder };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
