import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes the same Debian package with another version, as the next release would be. */
export function nextRelease(deb: string, from: string, to: string, folder: string): string {
  const tree = join(folder, 'tree');
  mkdirSync(folder, { recursive: true });
  execFileSync('dpkg-deb', ['--raw-extract', deb, tree]);
  const files = [join(tree, 'DEBIAN/control'), join(tree, 'usr/lib/runner/bin/runner')];
  for (const tool of readdirSync(join(tree, 'usr/lib/runner/lib'))) {
    if (tool.startsWith('runner-')) files.push(join(tree, 'usr/lib/runner/lib', tool, 'main.cjs'));
  }
  for (const file of files) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to));
  }
  const target = join(folder, `runner_${to}_all.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, target]);
  return target;
}
