import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { COMMIT, deployed, failures, INTERRUPTED, writeState } from '@runner/testing/app-states';
import { run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, fixed, put, registered } from './patient.ts';

test('leftovers of killed deploys and commands are reported', async () => {
  const root = temporaryFolder('doctor');
  writeState(root, 'dead', { deploying: INTERRUPTED });
  writeState(root, 'stuck', { failures: failures(3) });
  writeState(root, 'gone', { instances: { default: { current: deployed('v1'), previous: [] } } });
  writeState(root, 'fine');
  mkdirSync(join(root, 'apps/fine/releases/.tmp-0a1b2c3d'), { recursive: true });
  const stray = put(root, 'state/.fine.json.0123456789ab.tmp', '');
  utimesSync(stray, 0, 0);
  put(root, 'state/.fine.json.0123456789ac.tmp', '');
  const { troubles, findings } = await examined(root);
  assert.equal(troubles, [
    'warning deploys: a deploy of dead was killed during health: the next deploy cleans up',
    `warning deploys: ${root}/apps/fine/releases/.tmp-0a1b2c3d was left by a killed deploy`,
    `problem deploys: ${root}/apps/gone/instances/default/current is missing, but v1 should run`,
    'problem deploys: automatic deploys of stuck are blocked: the same commit failed 3 times',
    `warning deploys: ${stray} was left by a killed command`,
  ]);
  assert.equal(
    findings.filter(({ level }) => level !== 'ok').map(({ fix }) => fix),
    [
      'runner deploy dead',
      `rm -rf ${shellWord(join(root, 'apps/fine/releases/.tmp-0a1b2c3d'))}`,
      'runner deploy gone',
      'runner debug last-error stuck',
      `rm ${shellWord(stray)}`,
    ],
  );
});

test('leftovers that the user cannot remove get a command for root', async () => {
  if (process.getuid?.() !== 0) return;
  const root = join(temporaryFolder('doctor'), 'root');
  writeState(root, 'fine');
  const releases = join(root, 'apps/fine/releases');
  for (const name of ['20200101T000000Z-0a1b2c3d4e5f', '20200102T000000Z-0a1b2c3d4e5f']) {
    mkdirSync(join(releases, name, 'node_modules'), { recursive: true });
  }
  mkdirSync(join(releases, '.tmp-0a1b2c3d'));
  spawnSync('chown', ['-R', '12345', root]);
  spawnSync('chown', ['0', join(releases, '20200101T000000Z-0a1b2c3d4e5f/node_modules')]);
  const user = 'setpriv --reuid 12345 --regid 12345 --clear-groups';
  const done = await shell(`exec ${user} runner-doctor --offline --json`, { root });
  const findings = JSON.parse(done.stdout).findings as { message: string; fix: string }[];
  const found = findings.filter(({ message }) => message.startsWith(releases));
  assert.equal(
    found.map(({ message, fix }) => [message, fix]),
    [
      [
        `${releases}/.tmp-0a1b2c3d was left by a killed deploy`,
        `rm -rf ${shellWord(`${releases}/.tmp-0a1b2c3d`)}`,
      ],
      [
        `${releases}/20200101T000000Z-0a1b2c3d4e5f is no longer needed but could not be removed`,
        `sudo rm -rf ${shellWord(`${releases}/20200101T000000Z-0a1b2c3d4e5f`)}`,
      ],
    ],
    done.stderr,
  );
});

test('current must point to the release in the state', async () => {
  const root = temporaryFolder('doctor');
  const { release } = deployed('v1') as { release: string };
  writeState(root, 'shop', { instances: { default: { current: deployed('v1'), previous: [] } } });
  const instance = join(root, 'apps/shop/instances/default');
  mkdirSync(instance, { recursive: true });
  symlinkSync(`../../releases/${release}`, join(instance, 'current'));
  assert.equal((await examined(root)).troubles, [
    `problem deploys: ${instance}/current points to a release that does not exist`,
  ]);
  mkdirSync(join(root, 'apps/shop/releases', release), { recursive: true });
  assert.equal((await examined(root)).troubles, []);
  writeState(root, 'shop', {
    instances: {
      default: { current: deployed('v1', { release: 'another', commit: COMMIT }), previous: [] },
    },
  });
  assert.equal((await examined(root)).troubles, [
    `problem deploys: ${instance}/current does not point to another, the release in the state`,
  ]);
});

test('a release that was judged bad is reported with a rollback only where there is a version to go back to', async () => {
  const root = temporaryFolder('doctor');
  const at = '2026-05-04T10:00:00.000Z';
  const end = {
    version: 'v2',
    at,
    since: at,
    deploy_id: 'a1b2c3d4',
    verdict: 'bad',
    reason: '5xx',
  };
  const fixes = async (previous: object[]) => {
    const instances = { default: { current: deployed('v2'), previous } };
    writeState(root, 'shop', { instances, watched: end });
    const { findings } = await examined(root);
    return findings.flatMap(({ message, fix }) => (/judged bad/.test(message) ? fix : []));
  };
  assert.equal(await fixes([]), ['runner watch shop']);
  const { release } = deployed('v1') as { release: string };
  mkdirSync(join(root, 'apps/shop/releases', release), { recursive: true });
  put(root, `apps/shop/files/${release}.deploy.yml`, '');
  assert.equal(await fixes([deployed('v1')]), ['runner rollback shop']);
});

test('events that could not be written are reported, and the command printed appends them', async () => {
  const root = await registered();
  const { stdout } = await run(
    'runner-audit',
    ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'],
    { root },
  );
  const kept = stdout.replace('"v1"', '"v2"');
  put(root, 'spool/audit/20260504-a1b2c3d4-DeployFailure.jsonl', kept);
  await fixed(root, 'problem spool: 1 event could not be written to the audit log');
  const log = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8');
  assert.is(log.split(/,"seq".*\n/).join(), (stdout + kept).split(/,"seq".*\n/).join());
});

test('messages that have waited long or were given up are reported', async () => {
  const root = await registered();
  put(root, 'spool/notify/mib0k3v1d-9f2e.telegram.json', '{}');
  put(root, 'spool/notify/telegram.json', '{}');
  assert.equal((await examined(root)).troubles, []);
  // Each attempt writes the file again.
  put(root, 'spool/notify/0mib0k3v1-9f2e.telegram.json', '{}');
  put(root, 'spool/notify/dead/mib0k3v1e-9f2e.discord.json', '{}');
  assert.equal((await examined(root)).troubles, [
    'warning spool: 1 message waiting for more than an hour',
    'warning spool: 1 message could not be delivered and was given up',
  ]);
});

test('a log that has grown large is reported', async () => {
  const root = await registered();
  const log = put(root, 'logs/deploy-events.jsonl', '', 0o640);
  assert.equal((await examined(root)).troubles, []);
  truncateSync(log, 64 * 1_048_576);
  const { troubles } = await examined(root);
  assert.is(troubles.length, 1);
  assert.match(troubles[0] ?? '', /^warning logs: .+deploy-events\.jsonl has grown to 64 MiB: /);
});

test.run();
