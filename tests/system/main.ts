/**
 * `npm run test:system`: the life of a server, in a booted systemd-nspawn: the package is installed, an
 * app is added, a timer deploys what is pushed; failures, rotation, a restart, an upgrade and back, the
 * end. The package of 0.1.0 is upgraded. A fresh server takes over with a backup of another one, and
 * commits try to get out of the sandbox. Then docs/production.md is followed, five commands lead to an
 * app over TLS, an app without traffic is set up, an ACME server gives certificates, and an agent logs in.
 * `-- play`, `-- first`, `-- move`, `-- breakOut`, `-- production`, `-- five`, `-- plain`, `-- certified`,
 * `-- agents`: one of these alone.
 * `GUEST=DIR` follows the pages on the system in that folder, as `debootstrap
 * --include=systemd-sysv,dbus,iproute2` makes it. Prints a transcript. Skipped, with the reason, where no
 * system can be booted.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { whyNoContainer } from '@runner/testing/container';
import { agents } from './agents.ts';
import { breakOut } from './breakouts.ts';
import { certified } from './certificates.ts';
import { first } from './first-release.ts';
import { five } from './five.ts';
import { move } from './moving.ts';
import { plain, production } from './production.ts';
import { play } from './story.ts';

/** What this machine, whose files are those of the server, must have. */
const NEEDED: readonly [package_: string, file: string][] = [
  ['dpkg', '/usr/bin/dpkg'],
  ['polkitd', '/usr/lib/polkit-1/polkitd'],
  ['dbus', '/usr/bin/dbus-daemon'],
  ['libpam-systemd', '/usr/share/pam-configs/systemd'],
  ['logrotate', '/usr/sbin/logrotate'],
];

function whyNot(): string | undefined {
  const why = whyNoContainer();
  if (why !== undefined) return why;
  const missing = NEEDED.find(([, file]) => !existsSync(file));
  if (missing !== undefined) return `the Debian package ${missing[0]} is not installed`;
  const node = spawnSync('dpkg-query', ['--show', 'nodejs']);
  return node.status === 0 ? undefined : 'node does not come from the Debian package nodejs here';
}

const why = whyNot();
if (why !== undefined) {
  process.stdout.write(`test:system: skipped: ${why}\n0 passed, 0 failed, 1 skipped\n`);
} else {
  const parts = { play, first, move, breakOut, production, five, plain, certified, agents };
  const chosen = Object.entries(parts).filter(([name]) => process.argv.includes(name));
  const all = (chosen.length > 0 ? chosen : Object.entries(parts)).reduce(
    async (before, [, part]) => (await before) + (await part()),
    Promise.resolve(0),
  );
  all.then(
    (steps) => process.stdout.write(`\n${steps} passed, 0 failed, 0 skipped\n`),
    (error: unknown) => {
      process.exitCode = 1;
      const words = error instanceof Error ? error.message : String(error);
      process.stdout.write(
        `\nThe story did not go as planned: ${words}\n0 passed, 1 failed, 0 skipped\n`,
      );
    },
  );
}
