/** `npm run test:system -- move`: a server dies, and its backup makes a fresh one. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IDENTITY, RECIPIENT } from '@runner/testing/age-key';
import { distFolder } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { addApp, deployByTimer } from './deploys.ts';
import { install } from './packages.ts';
import { type Server, startServer } from './server.ts';

/** A secret of the app: what a shell, a unit or an environment file would change if it were not quoted. */
const GREETING = 'hello "from" the $OLD \\server\n2nd line: \'ü\' `id` #;';

/** What the old server leaves behind. */
interface Left {
  /** In base64. */
  readonly backup: string;
  readonly anchor: string;
  readonly history: string;
}

/** Plays it; returns how many steps it has. Throws at the first that goes wrong. */
export async function move(): Promise<number> {
  const release = join(dirname(distFolder()), 'release');
  const { version } = JSON.parse(readFileSync(join(release, '../package.json'), 'utf8'));
  const old = await startServer({ '/srv/release': release });
  try {
    await install(old, version);
    await addApp(old);
    await deployByTimer(old);
    const left = await backUp(old);
    await old.container.close();
    const fresh = await startServer({ '/srv/release': release }, old);
    try {
      await install(fresh, version);
      await restore(fresh, left);
      await serve(fresh, left);
      return old.steps() + fresh.steps();
    } finally {
      await fresh.container.close();
    }
  } finally {
    await old.close();
  }
}

async function backUp(server: Server): Promise<Left> {
  const { container, step, type } = server;
  step('the app has a secret and a shared file; a backup is made, and the server is gone');
  await type('runner env set shop GREETING --file -', { stdin: GREETING });
  const file = /\/run\/runner\/\S+\.env/.exec(await type('runner env files'))?.[0];
  await type(`sed -i '/^Environment=/a EnvironmentFile=${file}' /etc/systemd/system/shop.service`);
  await type('systemctl daemon-reload; runner restart shop');
  await greets(server);
  const shared = '/opt/runner/apps/shop/instances/default/shared';
  await type(`install -d -o shop ${shared}; install -o shop -m 0644 /dev/null ${shared}/upload`);
  await type('systemctl stop runner-fetch.timer runner-fetch.service');
  await type(`runner backup --to - --recipient ${RECIPIENT} --with-shared > /root/backup.age`);
  return {
    backup: await container.ok('base64 --wrap=0 /root/backup.age'),
    anchor: (await type('runner audit anchor')).trim(),
    history: await container.ok('runner history shop --json'),
  };
}

async function restore({ container, step, type }: Server, left: Left): Promise<void> {
  step('on a fresh server: what cannot be opened changes nothing');
  const timers =
    'runner-fetch.timer runner-jobs.timer runner-notify.timer runner-tokens.timer runner-digest.timer';
  await type(`systemctl stop ${timers}`);
  const home = '/var/lib/runner';
  await container.ok(`base64 --decode | install -o runner -m 0600 /dev/stdin ${home}/backup.age`, {
    stdin: left.backup,
  });
  await container.ok(`cat | install -o runner -m 0600 /dev/stdin ${home}/key.txt`, {
    stdin: IDENTITY,
  });
  await container.ok(`cat | install -o runner -m 0600 /dev/stdin ${home}/wrong`, {
    stdin: 'not the passphrase',
  });
  await container.ok(`head -c 700 ${home}/backup.age > ${home}/cut.age; chmod 644 ${home}/cut.age`);
  const before = await container.ok('find /opt/runner -type f | sort');
  const wrong = `runner restore ${home}/backup.age --passphrase-file ${home}/wrong`;
  assert.match(await type(wrong, { status: 1 }), /backup_unreadable/);
  const cut = `runner restore ${home}/cut.age --identity ${home}/key.txt`;
  assert.match(await type(cut, { status: 1 }), /backup_unreadable/);
  assert.is(await container.ok('find /opt/runner -type f | sort'), before);

  step('the backup is restored: owners, units, tokens, secrets, history and chain');
  await container.ok('useradd --system shop');
  await type(`runner restore ${home}/backup.age --identity ${home}/key.txt && rm ${home}/key.txt`);
  const owners = await type("stat -c '%A %U %n' /opt/runner/mkey /opt/runner/state/shop.json");
  assert.match(owners, /^-rw------- runner \S+mkey\n-rw------- runner \S+shop\.json\n$/);
  assert.match(await type('runner tokens list'), /Tokens \(1\)/);
  assert.match(await type('runner env list shop'), /GREETING/);
  assert.match(await type(`runner audit verify --anchor ${left.anchor}`), /^whole: /);
  assert.is(await container.ok('runner history shop --json'), left.history);
}

/** The app's main process has the secret byte for byte. */
async function greets({ container }: Server): Promise<void> {
  const main = '$(systemctl show -P MainPID shop.service)';
  const encoded = await container.ok(`base64 --wrap=0 /proc/${main}/environ`);
  const entries = Buffer.from(encoded, 'base64').toString('utf8').split('\0');
  assert.is(
    entries.find((entry) => entry.startsWith('GREETING=')),
    `GREETING=${GREETING}`,
  );
}

async function serve(server: Server, left: Left): Promise<void> {
  const { container, step, type, shows } = server;
  step('with its units the app is deployed again, and serves; its token and its secret open');
  await type('cp -r /opt/runner/restored-units/etc/. /etc/');
  await type('systemctl daemon-reload; systemctl enable shop.service');
  // The code host gives nothing without the token, and the backup has no mirror.
  await type('runner fetch --deploy');
  await shows('v1');
  await greets(server);
  const pid = (await container.ok('systemctl show -P MainPID shop.service')).trim();
  assert.is(await type(`stat -c %U /proc/${pid}`), 'shop\n');
  assert.match(await type('runner doctor || :'), /shop/);
  assert.match(await type(`runner audit verify --anchor ${left.anchor}`), /^whole: /);
  assert.match(await type('runner history shop'), /(?:v1[\s\S]*){2}/);
}
