/**
 * A chapter about attacks of the user `runner` on root. Each is tried without what closes it, where it has to
 * succeed, and then as it is installed, where it never does.
 */
import * as assert from 'uvu/assert';
import type { Server } from './server.ts';
import { LAY_OUT, PLACE } from './terminal-attack.ts';

/** How often each is tried; 100 in a thorough run. */
const TRIES = Number(process.env.ATTACK_TRIES ?? 5);

/** Runs a program on a terminal of root, and looks which terminal it was given. */
const ON_TERMINAL = `cat >/usr/lib/runner/bin/runner-look <<'END'
#!/bin/sh
for fd in 0 1 2; do readlink /proc/self/fd/$fd; done
(: </dev/tty) 2>/dev/null && echo has-terminal || echo no-terminal
id -un
END
chmod 755 /usr/lib/runner/bin/runner-look; ln -sfn ../lib/runner/launch /usr/bin/runner-look`;

/** Changes the user, and nothing else. */
const AS_RUNNER =
  'setpriv --reuid=runner --regid=runner --init-groups -- /usr/lib/runner/bin/runner-look';

export async function attackTerminal({ container, step }: Server): Promise<void> {
  step("root's terminal does not reach what runs as runner, however the streams are redirected");
  await container.ok(ON_TERMINAL);
  const look = async (redirections: string, command = 'runner-look') => {
    const script = `tty >/tmp/tty; ${command} ${redirections}`;
    await container.ok(`rm -f /tmp/seen; script -qec '${script}' /tmp/shown </dev/null >/dev/null`);
    const [own, shown] = [await container.ok('cat /tmp/tty'), await container.ok('cat /tmp/shown')];
    return {
      own: own.trim(),
      shown: redirections.includes('seen') ? await container.ok('cat /tmp/seen') : shown,
    };
  };
  const isIn = (own: string, shown: string) => new RegExp(`^${own}\\r?$`, 'm').test(shown);
  const bare = await look('', AS_RUNNER);
  assert.ok(isIn(bare.own, bare.shown), bare.shown);
  assert.match(bare.shown, 'has-terminal');
  for (let tried = 0; tried < TRIES; tried += 1) {
    for (const redirections of ['', '>/tmp/seen', '2>/tmp/errors >/tmp/seen', '</dev/null']) {
      const { own, shown } = await look(redirections);
      assert.match(shown, /runner\r?\n/, redirections);
      assert.not(isIn(own, shown), `${redirections}: ${own} in ${shown}`);
      if (redirections !== '') assert.match(shown, 'no-terminal');
    }
  }
  await container.ok('rm -f /usr/bin/runner-look /usr/lib/runner/bin/runner-look');
}

/** The attacker gets into the program in any case: its terminal leads nowhere. */
export async function attackShell({ container, step }: Server): Promise<void> {
  step("what runs as runner types nothing into root's shell, and reads nothing that root types");
  await container.ok(LAY_OUT);
  const once = (victim: string, way: string) =>
    container.ok(`${PLACE}/once.sh '${victim}' ${way}`, { timeout: 600_000 });
  const bare = AS_RUNNER.replace('runner-look', 'runner-victim');
  assert.match(await once(bare, 'type'), /^inside typed=0 /);
  assert.match(await once(bare, 'record'), /^inside typed= recorded=[1-6]\n$/);
  for (let tried = 0; tried < TRIES; tried += 1)
    for (const way of ['type', 'record'])
      assert.is(await once('runner-victim', way), 'inside typed= recorded=0\n', way);
  await container.ok(`rm -rf ${PLACE} /usr/bin/runner-victim /usr/lib/runner/bin/runner-victim`);
}

/** runner turns its folder `logs` into a link to a folder of root, and back, again and again. */
const RACE = `cd /opt/runner; mv logs logs.kept
while test ! -e /tmp/stop; do ln -sfn /srv/prey logs; ln -sfn /srv/none logs; done
rm -f logs; mv logs.kept logs`;

/** Starts the race. Root may begin once the link is there: in its place it could make a real folder. */
async function startRace({ container }: Server): Promise<{ stop(): Promise<void> }> {
  await container.ok('mkdir -p /srv/prey; rm -f /tmp/stop');
  const racing = container.sh(RACE, { user: 'runner', timeout: 600_000 });
  await container.ok('until [ -L /opt/runner/logs ]; do sleep 0.1; done', { timeout: 60_000 });
  return {
    async stop() {
      await container.ok('touch /tmp/stop');
      await racing;
    },
  };
}

/** Repeats a command of root until it has fallen for the race, and prints how often that took. */
const untilFallen = (command: string, hasFallen: string) =>
  `for tried in $(seq 1000); do ${command} >/dev/null 2>&1; if ${hasFallen}; then echo $tried; break; fi; done`;

/** Makes a folder as root in a folder of runner. */
const MAKE_AS_ROOT =
  '[ -d /opt/runner/logs ] || install -d -o runner -g runner -m 0750 /opt/runner/logs';

export async function attackSetup(server: Server): Promise<void> {
  const { container, step } = server;
  step('the installer gives no folder of root away');
  const race = await startRace(server);
  const hasFallen = '[ "$(stat -c %U /srv/prey)" = runner ]';
  assert.match(await container.ok(untilFallen(MAKE_AS_ROOT, hasFallen)), /^\d+\n$/);
  await container.ok('chown root:root /srv/prey; chmod 755 /srv/prey');
  await container.ok('mv /opt/runner/spool/notify /opt/runner/spool/kept', { user: 'runner' });
  for (let tried = 0; tried < TRIES; tried += 1) {
    await container.ok('ln -sfn /srv/prey /opt/runner/spool/notify', { user: 'runner' });
    await container.sh('/usr/lib/runner/setup install again');
    const owner = await container.ok("stat -c '%U %a' /srv/prey; ls -A /srv/prey");
    assert.is(owner, 'root 755\n');
  }
  await race.stop();
  await container.ok('cd /opt/runner/spool; rm notify; mv kept notify', { user: 'runner' });
}

export async function attackRotation(server: Server): Promise<void> {
  const { container, step } = server;
  step('logrotate follows no link of runner as root');
  const race = await startRace(server);
  const fill = 'dd if=/dev/zero of=/srv/prey/deploy-events.jsonl bs=1M count=2 status=none';
  await container.ok('sed "/su runner/d" /etc/logrotate.d/runner >/etc/logrotate-without');
  const rotating = `${fill}; logrotate -f -s /tmp/rotated /etc/logrotate-without`;
  const hasFallen = '[ -e /srv/prey/deploy-events.jsonl.1 ]';
  assert.match(await container.ok(untilFallen(rotating, hasFallen)), /^\d+\n$/);
  await container.ok('rm /srv/prey/* /etc/logrotate-without');
  for (let tried = 0; tried < TRIES; tried += 1) {
    await container.sh(`${fill}; logrotate -f /etc/logrotate.d/runner`);
    const made = await container.ok('ls /srv/prey');
    assert.is(made, 'deploy-events.jsonl\n');
  }
  await race.stop();
  await container.ok('rm -r /srv/prey');
}
