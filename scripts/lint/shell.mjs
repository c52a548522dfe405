// Runs shellcheck over every shell script of the checkout when it is installed, else says so.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout, say } from '../tasks/checkout.mjs';

/** Files that begin with a `#!` line naming a shell, in the folders that hold such programs. */
function shellScripts() {
  const folders = ['.ci', 'scripts', 'packaging', 'tools', 'libs'];
  return folders
    .filter((folder) => existsSync(join(checkout, folder)))
    .flatMap((folder) =>
      readdirSync(join(checkout, folder), { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
    )
    .filter((file) => !file.includes('/node_modules/') && !/\.(ts|mjs|json|md|txt)$/.test(file))
    .filter((file) => /^#!.*\b(sh|bash|dash)\b/.test(readFileSync(file, 'latin1').slice(0, 100)))
    .sort();
}

const scripts = shellScripts();
const version = spawnSync('shellcheck', ['--version']);
if (version.error !== undefined) {
  say('shellcheck: skipped, it is not installed (Debian package shellcheck)');
} else if (scripts.length > 0) {
  const { status } = spawnSync('shellcheck', scripts, { cwd: checkout, stdio: 'inherit' });
  process.exitCode = status ?? 1;
  if (status === 0) say(`shellcheck: ${scripts.length} scripts are clean`);
}
