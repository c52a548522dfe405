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

/** Packages of their own: the executables, their pages and completions; of the fleet the client of NATS and the unit, too. */
const APART = {
  fleet: /\/(runner-(fleet|agent)[^/]*|nats\.cjs)$/,
  mcp: /\/runner-mcp[^/]*$/,
  preview: /\/runner-(preview|waker)[^/]*$/,
};
/** What else is in them: files of packaging/ by their places. */
const UNITS = 'usr/lib/systemd/system';
const MORE = {
  'mcp/sshd.conf': 'etc/ssh/sshd_config.d/runner-mcp.conf',
  'preview/runner-waker.socket': `${UNITS}/runner-waker.socket`,
  'preview/runner-waker.service': `${UNITS}/runner-waker.service`,
};

/** What Debian's packages of the official build of Node are made for. */
const OWN_NODE = 'libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8)';

/**
/**
 * Makes runner_<version>_<arch>.deb from the unpacked release, and of the same files runner-fleet_<version>_all.deb,
 * runner-mcp_<version>_all.deb and runner-preview_<version>_all.deb, the same for each architecture. The same files
 * give the same bytes.
 */
export function makeDebianPackages(release, tree, work) {
  const root = join(work, 'debian');
  execute('sh', [join(tree, 'install'), '--prefix', '/usr'], { DESTDIR: root });
  placePapers(tree, join(root, 'usr/share/doc/runner'));
  compressPages(join(root, 'usr/share/man'));
  for (const [name, files] of Object.entries(APART))
    for (const file of readdirSync(root, { recursive: true }).filter((each) => files.test(each))) {
      mkdirSync(dirname(join(work, name, file)), { recursive: true });
      renameSync(join(root, file), join(work, name, file));
    }
  finish(release, { name: 'runner', source: join(checkout, 'packaging/debian') }, root);
  if (release.arch !== 'all') return;
  for (const [file, to] of Object.entries(MORE))
    writeText(join(work, dirname(file), to), unitText(join(checkout, 'packaging', file)));
  for (const each of Object.keys(APART)) {
    const name = `runner-${each}`;
    copy(join(checkout, 'LICENSE'), join(work, each, `usr/share/doc/${name}/copyright`));
    finish(release, { name, source: join(checkout, 'packaging', each) }, join(work, each));
  }
}

/** A unit for the places of a package. */
const unitText = (path) => readFileSync(path, 'utf8').replaceAll('@LIBDIR@', '/usr/lib/runner');

/** Makes runner-bell_<version>_all.deb: its units; the executable is that of the package runner. */
export function makeBellPackage(release, root) {
  const source = join(checkout, 'packaging/bell');
  const units = join(root, UNITS);
  for (const name of ['runner-bell.socket', 'runner-bell.path', 'runner-bell@.service']) {
    writeText(join(units, name), unitText(join(source, name)));
  }
  const dropIn = join(units, 'runner-fetch.service.d/runner-bell.conf');
  copy(join(source, 'runner-fetch.conf'), dropIn);
  copy(join(checkout, 'LICENSE'), join(root, 'usr/share/doc/runner-bell/copyright'));
  finish(release, { name: 'runner-bell', source }, root);
}

/** Makes runner-dashboard_<version>_all.deb: its units; the executable is that of the package runner. */
export function makeDashboardPackage(release, root) {
  const source = join(checkout, 'packaging/dashboard');
  for (const name of ['runner-dashboard.socket', 'runner-dashboard.service']) {
    writeText(join(root, UNITS, name), unitText(join(source, name)));
  }
  copy(join(checkout, 'LICENSE'), join(root, 'usr/share/doc/runner-dashboard/copyright'));
  finish(release, { name: 'runner-dashboard', source }, root);
}

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
