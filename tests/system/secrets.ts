/** Chapter about the secrets of an app: its unit gets them by a file in memory, and nothing else has them. */
import { randomOf } from '@runner/testing/random';
import * as assert from 'uvu/assert';
import type { Server } from './server.ts';

const COUNT = 50;
const ODD = ['\n', '"', "'", '$', '$HOME', '=', '\\', ' ', '`id`', '#', '%', 'ü', '\t', ';', '&'];

/** Each line is long enough to be redacted. */
function makeValues(): Map<string, string> {
  const random = randomOf(50);
  const line = (at: number) => `Pl4nted${at}x${random().toString(36).slice(2, 12)}`;
  return new Map(
    Array.from({ length: COUNT }, (_, at) => {
      const value = Array.from(
        { length: 1 + (at % 4) },
        () => `${ODD[Math.floor(random() * ODD.length)]}${line(at)}`,
      );
      return [`SECRET_${at}`, at === 0 ? `${line(at)}${'x'.repeat(65_000)}` : value.join('')];
    }),
  );
}

const VALUES = makeValues();
const NEEDLES = [...VALUES.values()].flatMap((value) =>
  value.split('\n').flatMap((line) => (line.length > 12 ? line.slice(0, 200) : [])),
);

/** In double quotes, as a shell and `runner env import` read them. */
function dotenv(): string {
  const quoted = (value: string) => value.replace(/["\\$`]/g, '\\$&').replaceAll('\n', '\\n');
  return [...VALUES].map(([name, value]) => `${name}="${quoted(value)}"\n`).join('');
}

/** Compares the environment of the unit's main process. */
async function checkSecrets({ container, step }: Server, when: string): Promise<void> {
  step(`${when} the unit has all ${COUNT} secrets byte for byte, and no file on a disk has one`);
  const main = '$(systemctl show -P MainPID shop.service)';
  const encoded = await container.ok(`base64 -w0 /proc/${main}/environ`);
  const entries = Buffer.from(encoded, 'base64').toString('utf8').split('\0');
  const known = new Map(entries.map((entry) => [entry.split('=', 1)[0], entry]));
  for (const [name, value] of VALUES) assert.is(known.get(name), `${name}=${value}`);
  await container.ok('cat >/dev/shm/needles', { stdin: `${NEEDLES.join('\n')}\n` });
  const folders = '/opt/runner /etc/runner /etc/systemd /var/log /var/lib/systemd /var/tmp';
  const found = await container.ok(
    `export LC_ALL=C; grep -rlaF -f /dev/shm/needles ${folders} 2>/dev/null || :
journalctl --no-pager -a | grep -aF -f /dev/shm/needles || :
cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -aF -f /dev/shm/needles || :`,
  );
  assert.is(found, '');
}

export async function keepSecrets(server: Server): Promise<void> {
  const { container, step, type, until } = server;
  step('secrets are imported, and the unit is given the file that holds them');
  await type('runner env import shop', { stdin: dotenv() });
  const file = /\/run\/runner\/\S+\.env/.exec(await type('runner env files'))?.[0];
  assert.is(await type(`stat -f -c %T ${file}; stat -c '%a %U' ${file}`), 'tmpfs\n600 runner\n');
  const folder = '/etc/systemd/system/shop.service.d';
  const unit = `[Service]\nEnvironmentFile=${file}\n`;
  await container.ok(`mkdir -p ${folder}; cat > ${folder}/secrets.conf`, { stdin: unit });
  await type('systemctl daemon-reload; runner restart shop');
  await checkSecrets(server, 'after a restart of the app');
  await container.reboot();
  await until('systemctl is-active shop.service', /^active/);
  await checkSecrets(server, 'after a restart of the server');
  // With secrets that the unit does not load, a deploy would be refused.
  await type(`rm -r ${folder} /opt/runner/secrets/shop.json; systemctl daemon-reload`);
}
