/** Root in the root of another user: every command leaves it as it is, and runs nothing that was planted there. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { makeWorld } from '../deploys/world.ts';
import { allCommands } from '../every-command/commands.ts';
import { foreign, OTHER, test } from './foreign-root.ts';

/** What a command is called with, if a word for each of its arguments is not enough. */
const ARGS: Readonly<Record<string, readonly string[]>> = {
  'runner-add': ['--repo', 'acme/other', '--branch', 'main', '--token-from', 'shop'],
  'runner-approve': ['p-00000000'],
  'runner-apply': ['p-00000000'],
  'runner-plan show': ['p-00000000'],
  'runner-preview enable': ['shop', '--domain', 'pr-{n}.preview.example.org'],
  'runner-preview open': ['shop', '7'],
  'runner-preview remove': ['shop', '7'],
  'runner-preview undo': ['shop', '7'],
  'runner-preview snippet': ['shop', '--proxy', 'nginx'],
  'runner-hold-traffic': ['shop', '--end'],
  'runner-top': ['--once'],
  'runner-agent claim': ['shop', 'nightly', '--id', 'x'],
  'runner-audit emit': ['DeployStarted', '--project', 'shop', '--version', '1'],
  'runner-backup': ['--to', '-', '--recipient', `age1${'q'.repeat(58)}`],
  'runner-completion': ['bash'],
  'runner-edit': ['shop', '--branch', 'other'],
  'runner-env set': ['shop', 'NAME', '--file', '-'],
  'runner-env unset': ['shop', 'NAME'],
  'runner-exec': ['shop', 'true'],
  'runner-fetch': ['--deploy'],
  'runner-fleet broker': ['check'],
  'runner-fleet init': ['--broker', 'tls://broker.example'],
  'runner-fleet order': ['deploy', 'shop'],
  'runner-notify preview': [],
  'runner-notify queue': ['list'],
  'runner-remove': ['shop', '--yes'],
  'runner-restore': ['-'],
  'runner-status': ['shop'],
};

/** `shop` for each argument that the help requires. */
function wordsFor(help: string): string[] {
  const usage = /^Usage: .*$/m.exec(help)?.[0] ?? '';
  return [...usage.matchAll(/ <[A-Z]+>/g)].map(() => 'shop');
}

/** Commands that only read, which another user's root does not hinder. */
const READING = [
  ...['audit anchor', 'audit list', 'audit tail', 'audit verify', 'completion', 'debug extract'],
  ...['debug last-error', 'debug log', 'doctor', 'env list', 'history', 'import', 'list'],
  ...[
    'notify preview',
    'notify status',
    'preview list',
    'report',
    'stats',
    'status',
    'tokens list',
  ],
  ...['top', 'why'],
  // They write to /etc/runner, which is root's.
  ...['grant add', 'grant list', 'grant remove'],
];

/** Path, owner, mode, times and content of all below a folder. */
function treeOf(folder: string): string[] {
  const names = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })];
  return names.sort().map((name) => {
    const path = join(folder, name);
    const { uid, gid, mode, mtimeMs, nlink, size } = lstatSync(path);
    const kind = lstatSync(path);
    const content = kind.isSymbolicLink()
      ? readlinkSync(path)
      : kind.isFile()
        ? createHash('sha256').update(readFileSync(path)).digest('hex')
        : '';
    return [name, uid, gid, mode, mtimeMs, nlink, kind.isDirectory() ? '' : size, content].join(
      ' ',
    );
  });
}

test('every command leaves the files unchanged and runs none of them', async () => {
  const world = await makeWorld();
  const { root } = world;
  const planted = temporaryFolder('planted');
  const proof = join(planted, 'ran-as-root');
  writeFileSync(join(planted, 'pm2'), `#!/bin/sh\ntouch ${word(proof)}\n`, { mode: 0o755 });
  await world.launch('v1', { deploy: 'start: { type: none }\n' });
  // Registered and never deployed: it has no folder yet.
  const add = ['--repo', 'acme/new', '--branch', 'main', '--token-from', 'shop'];
  assert.is((await run('runner-add', add, { root })).status, 0);
  const state = world.state() as { instances: { default: { current: { release: string } } } };
  const { release } = state.instances.default.current;
  writeFileSync(
    join(root, 'apps/shop/files', `${release}.deploy.yml`),
    `instances: { default: { env: { PATH: "${planted}:/usr/bin:/bin" } } }\nstart: { type: pm2, run: "true" }\n`,
  );
  mkdirSync(join(root, 'spool/audit'), { recursive: true, mode: 0o700 });
  for (const name of ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(root, name), OTHER, OTHER);
  const before = treeOf(root);
  const refused: string[] = [];
  const page = join(planted, 'page.html');
  const { commands } = await allCommands();
  for (const { tool, words, help } of commands) {
    const name = [tool, ...words].join(' ');
    const args = tool === 'runner-report' ? ['--html', page] : (ARGS[name] ?? wordsFor(help));
    const { stderr } = await run(tool, [...words, ...args], { root, stdin: '' });
    assert.equal(treeOf(root), before, name);
    const line = /; run: (sudo -u '#61001' runner .*) \(guard_tripped\)\n$/.exec(stderr)?.[1];
    if (line) {
      assert.ok(line.startsWith(`sudo -u '#${OTHER}' ${name.replace('-', ' ')}`), line);
      assert.ok(line.endsWith(` --root ${word(root)}`), line);
      refused.push(name);
    }
  }
  assert.not(existsSync(proof));
  // Restore refuses a root that is not empty; setup reads it as its owner; verify only reads.
  const allowed = [...READING, 'restore', 'setup', 'verify'].map((name) => `runner-${name}`);
  const names = commands.map(({ tool, words }) => [tool, ...words].join(' '));
  assert.equal(names.filter((name) => !refused.includes(name)).sort(), allowed.sort());
  await world.close();
});

foreign.run();
