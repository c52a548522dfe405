import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout, childEnvironment, run, say } from './checkout.mjs';
import { withLock } from './lock.mjs';

const modules = join(checkout, 'node_modules');
const stampFile = join(modules, '.runner-stamp');

/** The version of pnpm that package.json pins. */
function pinnedPnpm() {
  const manifest = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  return manifest.packageManager.replace('pnpm@', '');
}

/** Paths of the root manifest and of the manifest of each package, as pnpm-workspace.yaml lists them. */
function manifests() {
  const found = ['package.json'];
  for (const kind of ['libs', 'tools']) {
    if (!existsSync(join(checkout, kind))) continue;
    for (const name of readdirSync(join(checkout, kind)).sort()) {
      const manifest = join(kind, name, 'package.json');
      if (existsSync(join(checkout, manifest))) found.push(manifest);
    }
  }
  return found;
}

/** What an installation depends on. Scripts and texts of a manifest do not count. */
function wantedStamp() {
  const hash = createHash('sha256');
  hash.update(`${process.version} ${process.platform} ${process.arch}\n`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) {
    hash.update(readFileSync(join(checkout, file)));
  }
  for (const file of manifests()) {
    const { name, dependencies, devDependencies, packageManager } = JSON.parse(
      readFileSync(join(checkout, file), 'utf8'),
    );
    hash.update(JSON.stringify([file, name, dependencies, devDependencies, packageManager]));
  }
  return hash.digest('hex');
}

function isInstalled(stamp) {
  try {
    return readFileSync(stampFile, 'utf8') === stamp;
  } catch {
    return false;
  }
}

/** pnpm as the checkout already has it, else through npx, which keeps it in npm's cache. */
function pnpmCommand(version) {
  const local = join(modules, 'pnpm', 'bin', 'pnpm.cjs');
  const manifest = join(modules, 'pnpm', 'package.json');
  if (existsSync(local) && JSON.parse(readFileSync(manifest, 'utf8')).version === version) {
    return [process.execPath, [local]];
  }
  return ['npx', ['--yes', `pnpm@${version}`]];
}

async function install(stamp) {
  const version = pinnedPnpm();
  say(
    `setup: installing what the checkout needs with pnpm ${version} (the first time takes a while)`,
  );
  const [program, first] = pnpmCommand(version);
  const { status } = await run(
    program,
    [
      ...first,
      'install',
      '--frozen-lockfile',
      '--prefer-offline',
      '--reporter=append-only',
      '--config.confirm-modules-purge=false',
      '--config.update-notifier=false',
    ],
    { env: childEnvironment({ network: true }), toStderr: true },
  );
  if (status !== 0) {
    say('setup: the installation failed; it needs the package registry once, see above');
    return false;
  }
  writeFileSync(`${stampFile}.new`, stamp);
  renameSync(`${stampFile}.new`, stampFile);
  return true;
}

/** Installs the dependencies unless they are there already; resolves false when that failed. */
export async function setUp() {
  const stamp = wantedStamp();
  if (isInstalled(stamp)) return true;
  return withLock('setup', async () => (isInstalled(stamp) ? true : install(stamp)));
}
