// The Node that a release brings: the official build, as npm's registry has it, in the version and with the hash of
// packaging/node.json.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, checkout, childEnvironment } from '../tasks/checkout.mjs';
import { copy, execute } from './archive.mjs';

const { version, integrity } = JSON.parse(
  readFileSync(join(checkout, 'packaging/node.json'), 'utf8'),
);

/** What Node is in the list of what a release contains. */
export const NODE = { name: 'node', version, license: 'MIT' };

/** Throws unless the file is the one whose hash is kept. */
function verify(file, arch) {
  const hash = createHash('sha512').update(readFileSync(file)).digest('base64');
  if (`sha512-${hash}` !== integrity[arch])
    throw new Error(`${file} is not Node ${version}: its hash is sha512-${hash}`);
}

/** The package of an architecture, `x64` or `arm64`; it is fetched once. */
function archiveOf(arch) {
  const folder = join(cacheFolder, 'node-releases');
  const file = join(folder, `node-linux-${arch}-${version}.tgz`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const what = `node-linux-${arch}@${version}`;
    execute(
      'npm',
      ['pack', what, '--pack-destination', folder],
      childEnvironment({ network: true }),
    );
  }
  verify(file, arch);
  return file;
}

/** Puts Node and its licence below `node/` of an unpacked release. */
export function placeNode(arch, tree, work) {
  const parts = ['package/bin/node', 'package/LICENSE'];
  mkdirSync(work, { recursive: true });
  execute('tar', ['--extract', '--gzip', '--file', archiveOf(arch), '--directory', work, ...parts]);
  copy(join(work, 'package/bin/node'), join(tree, 'node/bin/node'), 0o755);
  copy(join(work, 'package/LICENSE'), join(tree, 'node/LICENSE'));
}
