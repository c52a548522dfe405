/** What systemd counts, and what is announced of it. */
import { changesOf } from '@runner/deploy/alerts/changes';
import { restartsIn, shownOf } from '@runner/deploy/instances/drivers/unit-state';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const MINUTE = 60_000;

/** What `fetch` announces minute by minute; each is the running state and the unit's properties. */
function announced(looks: readonly (readonly [running: boolean, shown: string])[]) {
  let app = { app: 'shop', branch: 'main', instances: {} } as never as { reported?: object };
  return looks.map(([running, shown], minute) => {
    const summary = {
      app: 'shop',
      branch: 'main',
      state: 'ok',
      next: 'run: runner start shop',
      instances: [{ instance: 'default', current: { version: 'v1' }, running }],
    };
    const seen = { notify: true, deploys: true, check: null, summary, waits: undefined };
    const now = new Date(Date.UTC(2026, 0, 1) + minute * MINUTE);
    const restarts = () => restartsIn(shownOf(shown));
    const found = changesOf(app as never, { ...seen, tag: undefined, now, restarts } as never);
    app = { ...app, reported: found.reported };
    return found.changes.map(({ event_type, restarts: count, oom, reason }) =>
      [event_type, count, oom, reason].filter((each) => each !== undefined).join(' '),
    );
  });
}

test('three restarts within 10 minutes are a loop; one crash is not', () => {
  const up = (count: number) => [true, `NRestarts=${count}\nResult=success\n`] as const;
  const loop = announced([up(7), up(8), up(10), up(10), ...Array(12).fill(up(10))]);
  assert.equal(loop.flat(), [
    'AppDown 3 restarted 3 times in 10 minutes; see runner logs shop',
    'AppUp',
  ]);
  assert.equal(announced([up(0), up(1), up(1), up(2)]).flat(), []);
});

test('an app that the kernel killed says so, and is up again at once if it comes back', () => {
  const killed = [false, 'NRestarts=1\nResult=oom-kill\n'] as const;
  const well = [true, 'NRestarts=1\nResult=success\n'] as const;
  assert.equal(announced([[true, 'NRestarts=0\nResult=success\n'], killed, well]).flat(), [
    'AppDown 1 true the kernel killed it: it was out of memory; run: runner start shop',
    'AppUp',
  ]);
});

test.run();
