/** The executables of version 0.1.0, built from the history of this checkout. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

/** The last commit of version 0.1.0. */
const COMMIT = 'fe09ed6a0e7c1799bf26aba2f423aa6b9fce6c1f';

/** What the build needs, and the executables and packages hold. */
const SOURCES = [
  ...['libs', 'tools', 'packaging', 'docs', 'scripts/bundle', 'scripts/reference'],
  ...['scripts/bundle.mjs', 'scripts/checkout.mjs', 'package.json', 'pnpm-lock.yaml'],
  ...['scripts/package', 'scripts/package.mjs', 'scripts/install'],
  ...['LICENSE', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md'],
];
/** What the executables load. */
const PACKAGES = ['esbuild', 'mri', 'picocolors', 'undici', 'yaml', 'ajv'];

/** Whether the history holds that commit: that of a shallow clone, or of an archive, does not. */
export function hasOldVersion(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], {
      cwd: checkoutFolder(),
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

/** Builds them; returns the folder that holds `bin/`. Takes a second or two. */
export function buildOldVersion(): string {
  const folder = temporaryFolder('0.1.0');
  const archive = execFileSync('git', ['archive', COMMIT, ...SOURCES], {
    cwd: checkoutFolder(),
    maxBuffer: 1 << 28,
  });
  execFileSync('tar', ['-x', '--exclude=*/test', '-C', folder], { input: archive });
  linkPackages(folder);
  execFileSync(process.execPath, ['scripts/bundle.mjs'], { cwd: folder, stdio: 'pipe' });
  return join(folder, 'node_modules/.cache/runner/dist');
}

/** Builds its packages too; returns the folder that holds `runner_0.1.0_all.deb`. */
export function packageOldVersion(): string {
  const dist = buildOldVersion();
  const to = temporaryFolder('0.1.0-release');
  const args = ['scripts/package.mjs', '--to', to, '--dist', dist];
  execFileSync(process.execPath, args, { cwd: join(dist, '../../../..'), stdio: 'pipe' });
  return to;
}

/** Its own libraries, and the packages that this checkout has installed. */
function linkPackages(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@runner'), { recursive: true });
  for (const library of readdirSync(join(folder, 'libs')))
    symlinkSync(`../../libs/${library}`, join(modules, '@runner', library));
  const checkout = checkoutFolder();
  const places = ['libs', 'tools'].flatMap((top) =>
    readdirSync(join(checkout, top)).map((name) => join(checkout, top, name)),
  );
  for (const name of PACKAGES) {
    const found = [checkout, ...places]
      .map((place) => join(place, 'node_modules', name))
      .find((path) => existsSync(path));
    if (found === undefined) throw new Error(`the package ${name} is not installed`);
    symlinkSync(realpathSync(found), join(modules, name));
  }
}
