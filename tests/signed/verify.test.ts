/** `runner verify`: what runs is what was deployed. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { worldSuite } from '../deploys/world.ts';
import { deployed, releaseOf, relink, sha256, verify } from './verify.ts';

const test = worldSuite('verify');

test('what runs is as it was deployed; each change is named', async ({ world }) => {
  const commit = await deployed(world);
  const release = releaseOf(world);
  const name = basename(release);
  const kept = (suffix: string) => join(world.root, `apps/shop/files/${name}.${suffix}`);
  const good = await verify(world);
  assert.is(good.status, 0, good.stdout + good.stderr);
  assert.match(
    good.stdout,
    new RegExp(
      `^default: v1, commit ${commit.slice(0, 12)}, built \\S+Z, release ${name}, tree [0-9a-f]{16}\nshop: as it was deployed\n$`,
    ),
  );
  const success = world.events().find(({ event_type }) => event_type === 'DeploySuccess');
  assert.is(success?.tree, sha256(readFileSync(kept('tree'))));
  assert.is(success?.statement, sha256(readFileSync(kept('statement.json'))));
  assert.is(statSync(join(world.root, 'statement.key')).mode & 0o777, 0o600);

  writeFileSync(join(release, '../../instances/default/shared/storage/upload'), 'x');
  assert.is((await verify(world)).status, 0, 'what is shared is not the release');

  const current = join(world.root, 'apps/shop/instances/default/current');
  const at = (path: string) => join(release, path);
  const swap = (path: string, from: string, to: string) =>
    writeFileSync(path, readFileSync(path, 'latin1').replace(from, to), 'latin1');
  const changes: [what: string, change: () => void][] = [
    ['release: dist/main.js has changed', () => writeFileSync(at('dist/main.js'), '2\n')],
    [
      'release: dist/caf\\xe9 has changed',
      () => writeFileSync(Buffer.from(at('dist/caf\xe9'), 'latin1'), 'z'),
    ],
    ['release: dist/a\\x0ab  has changed', () => writeFileSync(at('dist/a\nb '), 'z')],
    ['release: dist/tool has other permissions', () => chmodSync(at('dist/tool'), 0o4755)],
    ['release: dist/empty is gone', () => rmSync(at('dist/empty'), { recursive: true })],
    ['release: dist/link has changed', () => relink(at('dist/link'), 'tool')],
    ['release: storage has changed', () => relink(at('storage'), '/etc')],
    [
      'release: dist/pipe is of another kind',
      () => {
        unlinkSync(at('dist/pipe'));
        writeFileSync(at('dist/pipe'), '');
      },
    ],
    ['release: dist/empty/new was added', () => writeFileSync(at('dist/empty/new'), '')],
    ['release: . has other permissions', () => chmodSync(release, 0o777)],
    [`release: ${release} is gone`, () => renameSync(release, `${release}x`)],
    [
      `deploy file: ${kept('deploy.yml')} has changed`,
      () => appendFileSync(kept('deploy.yml'), '# x\n'),
    ],
    [`deploy file: ${kept('deploy.yml')} is gone`, () => unlinkSync(kept('deploy.yml'))],
    [
      `statement: ${kept('statement.json')} has no good signature of the server's key`,
      () => swap(kept('statement.json'), '"sig":"', '"sig":"A'),
    ],
    [`statement: ${kept('statement.json')} is gone`, () => unlinkSync(kept('statement.json'))],
    [`statement: ${kept('tree')} has changed`, () => swap(kept('tree'), 'f 0', 'f 1')],
    [`link: ${current} has changed`, () => relink(current, '../../releases/other')],
    [`link: ${current} is gone`, () => unlinkSync(current)],
    [
      `log: ${join(world.root, 'logs/deploy-events.jsonl')} does not agree with the state or the audit log`,
      () =>
        swap(
          join(world.root, 'state/shop.json'),
          `"commit": "${commit}"`,
          `"commit": "${commit.replace(/./g, 'a')}"`,
        ),
    ],
  ];
  const apps = join(world.root, 'apps/shop');
  for (const path of ['releases', `releases/${name}`, 'instances', 'instances/default', '.']) {
    const folder = join(apps, path);
    changes.push([
      `link: ${folder} is of another kind`,
      () => {
        renameSync(folder, `${folder}.away`);
        symlinkSync(`${folder}.away`, folder);
      },
    ]);
  }
  const saved = join(temporaryFolder('saved'), 'root');
  execFileSync('cp', ['-a', world.root, saved]);
  for (const [what, change] of changes) {
    change();
    const found = await verify(world);
    assert.is(found.status, 1, what);
    assert.ok(found.stdout.includes(`  ${what}\n`), `${what}:\n${found.stdout}${found.stderr}`);
    assert.match(found.stdout, /\nshop: [1-9]\d* differences?\n$/);
    rmSync(world.root, { recursive: true });
    execFileSync('cp', ['-a', saved, world.root]);
  }
  const again = await verify(world, 'shop', '--json');
  assert.is(again.status, 0, again.stdout);
  assert.is(JSON.parse(again.stdout).instances[0].commit, commit);
  unlinkSync(join(world.root, 'logs/deploy-events.jsonl'));
  const unrecorded = await verify(world);
  assert.is(unrecorded.status, 0);
  assert.match(
    unrecorded.stdout,
    /note: the audit log has no record of its deploy\nshop: no difference was found, but this is not proven\n$/,
  );
});

test.run();
