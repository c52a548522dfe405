import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../tasks/checkout.mjs';

/** The folder of the package that a source belongs to, relative to the checkout; else undefined. */
function folderOf(source) {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
}

/**
 * The packages that sources of bundles (paths relative to the checkout) come from, by name:
 * [{ name, version, license, folder }]. The bill of materials and the licences come from this list alone.
 */
export function packagesOf(sources) {
  const folders = new Set(sources.map(folderOf).filter((folder) => folder !== undefined));
  return [...folders]
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(checkout, folder, 'package.json'), 'utf8'));
      const { name, version, license } = manifest;
      return { name, version, license, folder };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
