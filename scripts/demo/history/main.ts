/** `npm run demo -- --history`: a root with half a year of made-up history, to look at the figures. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomOf } from '@runner/testing/random';
import { run } from '@runner/testing/run';
import { say, show, type } from '../narration.ts';
import { HABITS } from './apps.ts';
import { type Active, DAY, madeUpHistory } from './records.ts';

const DAYS = 182;

/** Fills a root with the history up to `now`. */
export async function fillRoot(root: string, now: number): Promise<void> {
  const { records, active } = madeUpHistory(now, DAYS, randomOf(20));
  mkdirSync(join(root, 'state'), { recursive: true, mode: 0o700 });
  for (const { app, instances } of HABITS)
    writeFileSync(join(root, 'state', `${app}.json`), state(app, instances, active.get(app), now), {
      mode: 0o600,
    });
  const stdin = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const { status, stderr } = await run('runner-audit', ['emit'], { root, stdin });
  if (status !== 0) throw new Error(stderr);
}

function state(app: string, instances: readonly string[], active: Active | undefined, now: number) {
  const iso = (time: number) => new Date(time).toISOString();
  const current = active && {
    version: active.version,
    commit: active.commit,
    deploy_id: active.id,
    release: `${iso(active.at).replace(/\D/g, '').slice(0, 14)}-${active.commit.slice(0, 12)}`,
    deployed_at: iso(active.at),
  };
  const all = instances.map((name) => [name, { current: current ?? null, previous: [] }]);
  return `${JSON.stringify({
    version: 1,
    app,
    repo: `acme/${app}`,
    branch: 'main',
    state: {},
    created_at: iso(now - DAYS * DAY),
    updated_at: iso(now),
    instances: Object.fromEntries(all),
    failures: null,
    held: null,
    deploying: null,
    last_checked: iso(now),
  })}\n`;
}

/** Makes the root, and shows what the commands say of it. */
export async function showHistory(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'runner-history-'));
  await fillRoot(root, Date.now());
  say('Half a year of made-up deploys of seven apps. The figures of the last three months:');
  await type('runner stats --since 90d', root, 0);
  say('The last deploys of one app, and a page with all of it for the wall:');
  await type('runner history shop -n 8', root, 0);
  await type('runner report --html report.html', root, 0);
  show(`\nOpen ${join(root, 'report.html')} in a browser.`);
  say(`The root is left in ${root}; look around with: export RUNNER_ROOT=${root}`);
}
