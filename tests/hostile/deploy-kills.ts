/** `kill -9` of deploy, fetch --deploy and rollback: the next deploy repairs everything automatically. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Storm } from '@runner/testing/kill-storm';
import * as assert from 'uvu/assert';
import { forgetRates } from './kills.ts';
import { DEPLOY_FILE, must, type Server } from './server.ts';

type Recorded = Readonly<Record<string, unknown>>;

function eventsIn(root: string): Recorded[] {
  const lines = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8').split('\n');
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Recorded];
    } catch {
      return [];
    }
  });
}

/** The version whose release is active, every file of it being there; null before the first. */
function activeVersion(root: string): string {
  const current = join(root, 'apps/shop/instances/default/current');
  const read = (file: string) => readFileSync(join(current, file), 'utf8');
  assert.not.match(readlinkSync(current), /\.tmp/);
  const [version, ...copies] = ['VERSION', 'one', 'two'].map(read);
  assert.ok(
    copies.every((each) => each === version),
    `${copies} of ${version}`,
  );
  return version ?? '';
}

/** What holds after a command that was not killed: no lock is held, and nothing is half done. */
function isWhole(root: string): void {
  const state = JSON.parse(readFileSync(join(root, 'state/shop.json'), 'utf8')) as {
    deploying: unknown;
    instances: { default: { current: { version: string; release: string } } };
  };
  assert.is(state.deploying, null);
  const { current } = state.instances.default;
  assert.is(current.version, activeVersion(root));
  const releases = readdirSync(join(root, 'apps/shop/releases'));
  assert.ok(releases.includes(current.release));
  assert.equal(
    releases.filter((name) => name.startsWith('.')),
    [],
  );
  assert.ok(releases.length <= 8, releases.join());
  // Every deploy that began has ended, once.
  const ends = new Map<unknown, number>();
  for (const { event_type, deploy_id, from_version } of eventsIn(root)) {
    // A rollback by hand that fails, or is killed, is the end of no deploy.
    if (from_version !== undefined) continue;
    const change = event_type === 'DeployStarted' ? 1 : /^Deploy/.test(String(event_type)) ? -1 : 0;
    ends.set(deploy_id, (ends.get(deploy_id) ?? 0) + change);
  }
  ends.delete('a1b2c3d4');
  assert.equal(
    [...ends].filter(([, open]) => open !== 0),
    [],
  );
}

/** A new version of shop, announced in the chat with the highest rates, so that no test waits for them. */
const commit = (server: Server, version: string) =>
  server.commit(version, DEPLOY_FILE.replace('notify: {}', 'notify: { channel: discord }'));

/** What anybody may run next; each of them in its turn. */
const LOOKING = [
  ['runner-list'],
  ['runner-status', 'shop', '--json'],
  ['runner-debug', 'last-error', 'shop'],
] as const;

async function looksAt(root: string, time: number): Promise<void> {
  const [tool, ...args] = LOOKING[time % LOOKING.length] ?? LOOKING[0];
  await must(tool, args, { root });
}

/** Each time there is a new commit; whatever was killed, the next deploy makes it active. */
function deployingWith(
  root: string,
  server: Server,
  name: string,
  [tool, ...args]: readonly [tool: string, ...args: string[]],
): Storm {
  return {
    async next(time) {
      forgetRates(root);
      await commit(server, `${name}${time}`);
      return { tool, args };
    },
    async check(_, time) {
      activeVersion(root);
      await looksAt(root, time);
      forgetRates(root);
      await must('runner-deploy', ['shop'], { root });
      isWhole(root);
      assert.is(activeVersion(root), `${name}${time}`);
    },
  };
}

export const deploying = (root: string, server: Server): Storm =>
  deployingWith(root, server, 'd', ['runner-deploy', 'shop']);

export const fetching = (root: string, server: Server): Storm =>
  deployingWith(root, server, 'f', ['runner-fetch', '--deploy', 'shop']);

/** Each time two versions are there; after a rollback that was killed one of them is active. */
export function rollingBack(root: string, server: Server): Storm {
  return {
    async next(time) {
      // The version that is active goes on being kept: it is what a rollback brings back.
      forgetRates(root);
      await commit(server, `r${time}`);
      await must('runner-deploy', ['shop'], { root });
      return { tool: 'runner-rollback', args: ['shop'] };
    },
    async check({ signal }, time) {
      const active = activeVersion(root);
      if (signal === null) assert.is.not(active, `r${time}`);
      await looksAt(root, time);
      forgetRates(root);
      await must('runner-deploy', ['shop'], { root });
      isWhole(root);
      assert.is(activeVersion(root), `r${time}`);
    },
  };
}
