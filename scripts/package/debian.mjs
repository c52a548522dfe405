import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { filesBelow } from '../bundle/place.mjs';
import { checkout } from '../tasks/checkout.mjs';
import { copy, execute, writeText } from './archive.mjs';
import { PAGES } from './tree.mjs';

const scripts = ['postinst', 'prerm', 'postrm'];

/** Sets one time for everything below a folder and for itself; links are not followed. */
function setTimes(folder, date) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    lutimesSync(join(entry.parentPath ?? entry.path, entry.name), date, date);
  }
  lutimesSync(folder, date, date);
}

function compressPages(folder) {
  const pages = filesBelow(folder).filter((file) => /^man\d\//.test(file));
  for (const file of pages) {
    const bytes = gzipSync(readFileSync(join(folder, file)), { level: 9 });
    bytes[9] = 255;
    writeText(join(folder, `${file}.gz`), bytes);
    rmSync(join(folder, file));
  }
}

/** Documents where Debian looks for them. */
function placePapers(tree, docs) {
  // The same as docs/commands.md, whose links lead somewhere.
  rmSync(join(docs, 'commands.md'));
  for (const name of [...PAGES, 'THIRD-PARTY.txt', 'sbom.cdx.json']) {
    copy(join(tree, name), join(docs, name));
  }
  copy(join(tree, 'LICENSE'), join(docs, 'copyright'));
  for (const file of filesBelow(join(tree, 'docs'))) {
    copy(join(tree, 'docs', file), join(docs, 'docs', file));
  }
}

const UNITS = 'usr/lib/systemd/system';
const units = (...names) => Object.fromEntries(names.map((name) => [name, `${UNITS}/${name}`]));

/**
 * Packages of their own. `own`: the executables that the package runner does not have, with their pages and
 * completions, and the client of NATS; `files`: those of its folder in packaging/, by their places.
 */
const APART = {
  bell: {
    files: {
      ...units('runner-bell.socket', 'runner-bell.path', 'runner-bell@.service'),
      'runner-fetch.conf': `${UNITS}/runner-fetch.service.d/runner-bell.conf`,
    },
  },
  dashboard: { files: units('runner-dashboard.socket', 'runner-dashboard.service') },
  fleet: { own: /\/(runner-(fleet|agent)[^/]*|nats\.cjs)$/ },
  mcp: {
    own: /\/runner-mcp[^/]*$/,
    files: { 'sshd.conf': 'etc/ssh/sshd_config.d/runner-mcp.conf' },
  },
  preview: {
    own: /\/runner-(preview|waker)[^/]*$/,
    files: units('runner-waker.socket', 'runner-waker.service'),
  },
};

/** What Debian's packages of the official build of Node are made for. */
const OWN_NODE = 'libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8)';

/**
 * Makes runner_<version>_<arch>.deb from the unpacked release and, the same for each architecture, a package of
 * each of APART, runner-fleet_<version>_all.deb and so on. The same files give the same bytes.
 */
export function makeDebianPackages(release, tree, work) {
  const root = join(work, 'debian');
  execute('sh', [join(tree, 'install'), '--prefix', '/usr'], { DESTDIR: root });
  placePapers(tree, join(root, 'usr/share/doc/runner'));
  compressPages(join(root, 'usr/share/man'));
  const parts = Object.entries(APART);
  for (const [name, { own = /(?!)/ }] of parts)
    for (const file of readdirSync(root, { recursive: true }).filter((each) => own.test(each))) {
      mkdirSync(dirname(join(work, name, file)), { recursive: true });
      renameSync(join(root, file), join(work, name, file));
    }
  finish(release, { name: 'runner', source: join(checkout, 'packaging/debian') }, root);
  if (release.arch !== 'all') return;
  for (const [part, { files = {} }] of parts) {
    const [name, source] = [`runner-${part}`, join(checkout, 'packaging', part)];
    for (const [file, to] of Object.entries(files))
      writeText(join(work, part, to), unitText(join(source, file)));
    copy(join(checkout, 'LICENSE'), join(work, part, `usr/share/doc/${name}/copyright`));
    finish(release, { name, source }, join(work, part));
  }
}

/** A unit for the places of a package. */
const unitText = (path) => readFileSync(path, 'utf8').replaceAll('@LIBDIR@', '/usr/lib/runner');

/** Adds what dpkg reads, and packs the folder. */
function finish({ version, date, to, arch, level }, { name, source }, root) {
  const files = filesBelow(root);
  const sums = files.map((file) => {
    const hash = createHash('md5').update(readFileSync(join(root, file)));
    return `${hash.digest('hex')}  ${file}\n`;
  });
  const bytes = files.reduce((sum, file) => sum + lstatSync(join(root, file)).size, 0);
  const control = readFileSync(join(source, 'control'), 'utf8')
    .replaceAll('@VERSION@', version)
    .replace('@ARCHITECTURE@', arch)
    .replace('@NODE@', arch === 'all' ? 'nodejs (>= 20.18)' : OWN_NODE)
    .replace('@SIZE@', String(Math.ceil(bytes / 1024)));
  const place = (file, text, mode) => writeText(join(root, 'DEBIAN', file), text, mode);
  place('control', control);
  place('md5sums', sums.join(''));
  for (const file of ['conffiles', 'triggers'])
    if (existsSync(join(source, file))) place(file, readFileSync(join(source, file)));
  for (const each of scripts.filter((name) => existsSync(join(source, name))))
    place(each, readFileSync(join(source, each)), 0o755);
  setTimes(root, date);
  const how = ['--root-owner-group', '-Zxz', `-z${level}`, '--threads-max=1'];
  execute('dpkg-deb', [...how, '--build', root, join(to, `${name}_${version}_${arch}.deb`)], {
    SOURCE_DATE_EPOCH: String(date),
  });
}
