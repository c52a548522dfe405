import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { distFolder } from '@runner/testing/run';
import { pathsBelow, temporaryFolder, tree } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('package');
const dist = distFolder();
const checkout = dirname(dist);
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
const tools = readdirSync(join(dist, 'bin')).sort();

/** Where a bundle names a source of a package, in a comment or as a key: the package's name. */
const SOURCE = /^ *(?:\/\/ |").*node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\/[\w./-]*\.[cm]?js\b/gm;

function packageTo(
  folder: string,
  env: Record<string, string> = {},
  options: readonly string[] = ['--arch', 'all'],
): string {
  const script = join(checkout, 'scripts/package/main.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, ...options, '--to', folder], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
  assert.match(stderr, /^package: making the packages for \w+\n/);
  return folder;
}

const without = (program: string) => spawnSync(program, ['--version']).error !== undefined;
const missing = ['dpkg-deb', 'tar', 'bwrap', 'xz'].find(without);
const release = join(temporaryFolder('release'), 'release');
const whenPossible = missing === undefined ? test : test.skip;
if (missing !== undefined) process.stderr.write(`skipped: ${missing} is not installed\n`);
else packageTo(release);

const output = (program: string, args: readonly string[], env: Record<string, string> = {}) =>
  execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, ...env } });

whenPossible('a second release of the same commit has the same bytes, wherever it is made', () => {
  const again = join(temporaryFolder('again'), 'deeper', 'release');
  // A server that is closed to others is often where releases are made.
  const umask = process.umask(0o077);
  try {
    packageTo(again, { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' });
  } finally {
    process.umask(umask);
  }
  const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
  assert.is(sums(again), sums(release));
  assert.equal(readdirSync(release).sort(), [
    'SHA256SUMS',
    `runner-${version}.cdx.json`,
    `runner-${version}.tar.gz`,
    `runner-bell_${version}_all.deb`,
    `runner-cli-${version}.tgz`,
    `runner-dashboard_${version}_all.deb`,
    `runner-fleet_${version}_all.deb`,
    `runner-mcp_${version}_all.deb`,
    `runner-preview_${version}_all.deb`,
    `runner_${version}_all.deb`,
  ]);
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: release });
});

whenPossible('SOURCE_DATE_EPOCH decides the time of every file', () => {
  const dated = packageTo(join(temporaryFolder('dated'), 'release'), {
    SOURCE_DATE_EPOCH: '86400',
  });
  const env = { TZ: 'UTC' };
  for (const list of [
    output('tar', ['-tvzf', join(dated, `runner-${version}.tar.gz`)], env),
    output('dpkg-deb', ['-c', join(dated, `runner_${version}_all.deb`)], env),
  ]) {
    const lines = list.trim().split('\n');
    assert.is(lines.filter((line) => !line.includes(' 1970-01-02 00:00 ')).join('\n'), '');
    assert.is(lines.filter((line) => !/ (root\/root|0\/0) /.test(line)).join('\n'), '');
  }
});

whenPossible('the Debian package says what it needs, and holds what belongs to it', () => {
  const deb = join(release, `runner_${version}_all.deb`);
  const field = (name: string) => output('dpkg-deb', ['-f', deb, name]).trim();
  assert.is(field('Version'), version);
  assert.is(field('Architecture'), 'all');
  assert.is(field('Depends'), 'git, nodejs (>= 20.18), passwd');
  const root = temporaryFolder('deb');
  execFileSync('dpkg-deb', ['-x', deb, root]);
  const files = tree(root, { modes: true });
  const apart = ['runner-agent', 'runner-fleet', 'runner-mcp', 'runner-preview', 'runner-waker'];
  assert.equal(
    Object.keys(files).filter(
      (path) => /fleet|agent|nats|mcp|preview|waker/.test(path) && !path.includes('/doc/'),
    ),
    [],
  );
  for (const name of tools.filter((each) => !apart.includes(each))) {
    assert.is(files[`usr/bin/${name}`], '-> ../lib/runner/launch');
    assert.match(files[`usr/lib/runner/bin/${name}`] ?? '', /^0755 #!/);
  }
  for (const unit of [
    'runner-boot.service',
    'runner-commit-status.service',
    'runner-digest.service',
    'runner-digest.timer',
    'runner-env.service',
    'runner-fetch.service',
    'runner-fetch.timer',
    'runner-jobs.service',
    'runner-jobs.timer',
    'runner-notify.service',
    'runner-notify.timer',
    'runner-tokens.service',
    'runner-tokens.timer',
  ]) {
    assert.match(files[`usr/lib/systemd/system/${unit}`] ?? '', /^0644 \[Unit\]/);
  }
  for (const [path, text] of Object.entries(files)) {
    assert.not.match(text.slice(0, 100_000), /@(LIBDIR|VERSION|SIZE)@/, path);
    assert.is(/(^|\/)(node_modules|cache|dev|test)\//.test(path), false, path);
  }
  assert.match(files['etc/logrotate.d/runner'] ?? '', /su runner runner/);
  assert.match(files['usr/share/doc/runner/THIRD-PARTY.txt'] ?? '', /undici [\d.]+ \(MIT\)/);
});

whenPossible('the packages of an architecture bring their Node, which their programs name', () => {
  const own = packageTo(join(temporaryFolder('own'), 'release'), {}, [
    '--arch',
    'amd64',
    '--quick',
  ]);
  const deb = join(own, `runner_${version}_amd64.deb`);
  const field = (name: string) => output('dpkg-deb', ['-f', deb, name]).trim();
  assert.is(field('Architecture'), 'amd64');
  assert.not.match(field('Depends'), /nodejs/);
  const place = temporaryFolder('own-node');
  execFileSync('dpkg-deb', ['-x', deb, place]);
  execFileSync('tar', ['-xJf', join(own, `runner-${version}-linux-x64.tar.xz`), '-C', place]);
  const lib = join(place, 'usr/lib/runner');
  const pinned = JSON.parse(readFileSync(join(checkout, 'packaging/node.json'), 'utf8'));
  for (const folder of [lib, join(place, `runner-${version}`)]) {
    const node = join(folder, 'node/bin/node');
    // That of another processor cannot be asked.
    if (process.arch === 'x64') assert.is(output(node, ['--version']), `v${pinned.version}\n`);
    assert.match(readFileSync(join(folder, 'node/LICENSE'), 'utf8'), /Node\.js is licensed/);
  }
  for (const name of ['bin/runner-list', 'relay'])
    assert.match(readFileSync(join(lib, name), 'utf8'), /^#!\/usr\/lib\/runner\/node\/bin\/node\n/);
  const bom = JSON.parse(readFileSync(join(own, `runner-${version}-linux-x64.cdx.json`), 'utf8'));
  const named = bom.components.find(({ name }: { name: string }) => name === 'node');
  assert.equal([named.version, named.licenses[0].license.id], [pinned.version, 'MIT']);
});

whenPossible('the bell is a package of its own, of units alone', () => {
  const deb = join(release, `runner-bell_${version}_all.deb`);
  const root = temporaryFolder('bell-deb');
  execFileSync('dpkg-deb', ['-x', deb, root]);
  const files = tree(root, { modes: true });
  const units = Object.keys(files).filter((path) => path.startsWith('usr/lib/systemd/system/'));
  assert.equal(
    units
      .filter((path) => !path.endsWith('/'))
      .map((path) => path.replace(/.*system\//, ''))
      .sort(),
    [
      'runner-bell.path',
      'runner-bell.socket',
      'runner-bell@.service',
      'runner-fetch.service.d/runner-bell.conf',
    ],
  );
  for (const text of Object.values(files)) assert.not.match(text, /@(LIBDIR|VERSION|SIZE)@/);
});

whenPossible(
  'what agents need is a package of its own, which changes sshd for one user alone',
  () => {
    const root = temporaryFolder('mcp-deb');
    execFileSync('dpkg-deb', ['-x', join(release, `runner-mcp_${version}_all.deb`), root]);
    const files = tree(root, { modes: true });
    assert.is(files['usr/bin/runner-mcp'], '-> ../lib/runner/launch');
    assert.match(files['usr/lib/runner/bin/runner-mcp'] ?? '', /^0755 #!/);
    const sshd = files['etc/ssh/sshd_config.d/runner-mcp.conf'] ?? '';
    assert.match(sshd, /^0644 #.*\nMatch User runner\n( {2}.*\n)+Match all\n$/);
  },
);

whenPossible('several servers are a package of their own', () => {
  const deb = join(release, `runner-fleet_${version}_all.deb`);
  assert.is(
    output('dpkg-deb', ['-f', deb, 'Depends']).trim(),
    `runner (= ${version}), openssh-client, systemd (>= 247)`,
  );
  const root = temporaryFolder('fleet-deb');
  execFileSync('dpkg-deb', ['-x', deb, root]);
  const files = tree(root, { modes: true });
  for (const name of ['runner-agent', 'runner-fleet']) {
    assert.is(files[`usr/bin/${name}`], '-> ../lib/runner/launch');
    assert.match(files[`usr/lib/runner/bin/${name}`] ?? '', /^0755 #!/);
    assert.ok(files[`usr/share/man/man1/${name}.1.gz`]);
  }
  assert.match(files['usr/lib/runner/lib/nats.cjs'] ?? '', /^0644 /);
  const unit = files['usr/lib/systemd/system/runner-agent.service'] ?? '';
  assert.match(unit, /^0644 \[Unit\][\s\S]*ExecStart=\/usr\/lib\/runner\/bin\/runner-agent run /);
});

whenPossible('the tarball installs into an empty folder, and what is installed runs', () => {
  const unpacked = temporaryFolder('tarball');
  execFileSync('tar', ['-xzf', join(release, `runner-${version}.tar.gz`), '-C', unpacked]);
  const folder = join(unpacked, `runner-${version}`);
  const place = temporaryFolder('place');
  // By a root whose own files are closed to others: the timers' user has to read these.
  const install = () =>
    execFileSync('sh', ['-c', 'umask 077; exec "$0" --prefix /opt/x', join(folder, 'install')], {
      env: { ...process.env, DESTDIR: place },
    });
  install();
  const bin = join(place, 'opt/x/bin');
  assert.equal(readdirSync(bin).sort(), tools);
  const first = tree(place, { modes: true });
  for (const [path, text] of Object.entries(first))
    assert.match(text, path.endsWith('/') ? /^0755 / : /^(0644 |0755 |-> )/, path);
  // What is baked in is the place where it is going to be; Node is the one that runs this.
  const node = join(place, 'opt/x/lib/runner/node/bin/node');
  rmSync(node);
  symlinkSync(process.execPath, node);
  const env = { RUNNER_ROOT: temporaryFolder('root') };
  const there = ['--dev-bind', '/', '/', '--bind', join(place, 'opt'), '/opt', '/opt/x/bin/runner'];
  assert.is(output('bwrap', [...there, '--version'], env), `runner ${version}\n`);
  assert.is(
    output('bwrap', [...there, 'list', '--json'], env)
      .trim()
      .slice(0, 1),
    '{',
  );
  install();
  assert.equal(tree(place, { modes: true }), first);
  // What the administrator made of the rotation outlives an upgrade.
  const own = { ...first, 'etc/logrotate.d/runner': '0644 # weekly, nocreate\n' };
  writeFileSync(join(place, 'etc/logrotate.d/runner'), '# weekly, nocreate\n');
  install();
  assert.equal(tree(place, { modes: true }), own);
});

whenPossible(
  'every link of a page in the tarball and in the Debian package leads to a file of it',
  () => {
    const place = temporaryFolder('pages');
    execFileSync('tar', ['-xzf', join(release, `runner-${version}.tar.gz`), '-C', place]);
    execFileSync('dpkg-deb', ['-x', join(release, `runner_${version}_all.deb`), place]);
    for (const folder of [`runner-${version}`, 'usr/share/doc/runner']) {
      const files = pathsBelow(join(place, folder));
      const dead = files
        .filter((path) => path.endsWith('.md') && !path.startsWith('share/'))
        .flatMap((path) => {
          const text = readFileSync(join(place, folder, path), 'utf8');
          const links = [...text.matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g)].map(
            ([, to = '']) => to,
          );
          const missing = links.filter((to) => !files.includes(join(dirname(path), to)));
          return missing.map((to) => `${path} -> ${to}`);
        });
      assert.equal(dead, [], folder);
    }
  },
);

test('the user goes first when everything is deleted: userdel refuses while its processes run', () => {
  const line =
    /userdel runner && (?:sudo )?groupdel runner-view && (?:sudo )?rm -rf \/opt\/runner \/var\/lib\/runner \/etc\/runner\b/;
  for (const path of ['docs/install.md', 'packaging/debian/postrm', 'scripts/install'])
    assert.match(readFileSync(join(checkout, path), 'utf8'), line, path);
});

test('purged, the package leaves no link of a unit that an installation enables', () => {
  const setup = readFileSync(join(checkout, 'packaging/setup'), 'utf8');
  const enabled = [...setup.matchAll(/^(?:timers|boot)='(.*)'$/gm)].flatMap(([, list = '']) =>
    list.split(' '),
  );
  assert.is(enabled.length, 7);
  const postrm = readFileSync(join(checkout, 'packaging/debian/postrm'), 'utf8');
  const [, removed = ''] = /for each in (.*); do/.exec(postrm) ?? [];
  assert.equal(
    removed.split(' ').map((each) => `runner-${each}`),
    enabled,
  );
});

test('a prefix that could not stand in a unit is refused, and nothing is installed', () => {
  const place = temporaryFolder('place');
  for (const prefix of ['relative', '/opt/a b', '/opt/a&b', '/opt/a|b', '/opt/%h']) {
    const done = spawnSync(join(checkout, 'scripts/install'), ['--prefix', prefix], {
      env: { ...process.env, DESTDIR: place },
      encoding: 'utf8',
    });
    assert.is(done.status, 1, prefix);
    assert.match(done.stderr, /^install: --prefix [^\n]*\n$/);
  }
  assert.equal(pathsBelow(place), []);
});

whenPossible('the npm package brings every executable and depends on nothing', () => {
  const prefix = temporaryFolder('npm');
  const tgz = join(release, `runner-cli-${version}.tgz`);
  const args = ['install', '--global', '--prefix', prefix, '--offline', '--no-audit', '--no-fund'];
  output('npm', [...args, tgz], { npm_config_cache: temporaryFolder('npm-cache') });
  assert.equal(readdirSync(join(prefix, 'bin')).sort(), tools);
  const folder = join(prefix, 'lib/node_modules/runner-cli');
  assert.is(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies, undefined);
  const env = { RUNNER_ROOT: temporaryFolder('root') };
  assert.is(output(join(prefix, 'bin/runner'), ['--version'], env), `runner ${version}\n`);
  for (const name of tools)
    assert.match(output(join(prefix, 'bin', name), ['--version'], env), version);
  assert.match(output(join(prefix, 'bin/runner'), ['list'], env), '');
});

whenPossible('the bill of materials and the licences name what is bundled', () => {
  const bom = JSON.parse(readFileSync(join(release, `runner-${version}.cdx.json`), 'utf8'));
  assert.is(bom.bomFormat, 'CycloneDX');
  const names = bom.components.map(({ name }: { name: string }) => name);
  for (const own of ['mri', 'picocolors', 'undici', 'yaml']) assert.ok(names.includes(own), own);
  const text = output('tar', [
    '-xzOf',
    join(release, `runner-${version}.tar.gz`),
    `runner-${version}/THIRD-PARTY.txt`,
  ]);
  for (const { name, version: its, licenses } of bom.components) {
    assert.ok(licenses[0].license.id, name);
    assert.ok(text.includes(`${name} ${its} (${licenses[0].license.id})`), name);
  }
  // The executables name the sources they hold.
  const found = readdirSync(join(dist, 'bin')).flatMap((tool) =>
    [...readFileSync(join(dist, 'bin', tool), 'utf8').matchAll(SOURCE)].map(([, name]) => name),
  );
  for (const name of new Set(found)) assert.ok(names.includes(name), name);
});

test.run();
