/**
 * Every pair of what an app is and what is done to it ends as the table says: three drivers, with and
 * without traffic, in a booted server that is restarted and moved. `PAIRS='systemd traffic'` chooses a
 * driver and a kind; `PAIRS_ONLY='held × kill stop'` one pair. Prints the whole table.
 */
import { freePort } from '@runner/testing/app';
import { whyNoContainer } from '@runner/testing/container';
import type { ContainerResult } from '@runner/testing/container-inside';
import { IS_WHOLE } from '@runner/testing/extent';
import { startGitServer } from '@runner/testing/git-server';
import { randomOf } from '@runner/testing/random';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootGuest, DRIVERS, unitOf } from './guest.ts';
import { judge, operate, type PairApp, type PairWorld, prepare } from './pairs.ts';
import { HAS_SQLITE, isMigrated } from './pairs-database.ts';
import { EVERY_OPERATION as ALL, chosenPairs, isPossible, STATES } from './pairs-table.ts';
import { TOKEN } from './subject.ts';

const test = suite('pairs');
const why = whyNoContainer();
if (why !== undefined) process.stderr.write(`skipped: ${why}\n`);

/** What is done to a whole server. */
const OF_SERVERS = ['reboot', 'backup'];
/** Without `--whole`: one pair of these. */
const PART = 24;
const seed = Number(process.env.MODEL_SEED ?? 1);

interface Kind {
  readonly title: string;
  readonly root: string;
  readonly apps: PairApp[];
}

/** What differed, by pair; an empty list: nothing. */
type Results = Map<PairApp, readonly string[]>;

async function kindsOf(): Promise<Kind[]> {
  const random = randomOf(seed);
  const kinds: Kind[] = [];
  const { PAIRS = '', PAIRS_ONLY } = process.env;
  const chosen = chosenPairs(PAIRS_ONLY);
  for (const driver of DRIVERS)
    for (const hasTraffic of [false, true]) {
      const title = `${driver} ${hasTraffic ? 'traffic' : 'plain'}`;
      if (!title.includes(PAIRS)) continue;
      const short = `${driver[0]}${hasTraffic ? 't' : 'n'}`;
      const root = `/srv/${short}`;
      const apps: PairApp[] = [];
      for (const state of STATES) {
        if (isMigrated(state) && !HAS_SQLITE) continue;
        for (const [index, operation] of ALL.entries()) {
          const moment = 0.2 + Math.round(random() * 200) / 100;
          const isChosen = chosen
            ? chosen.includes(`${state} × ${operation}`)
            : IS_WHOLE || random() < 1 / PART;
          if (!isChosen || !isPossible(state, operation, hasTraffic)) continue;
          const name = `${short}${STATES.indexOf(state)}x${index}`;
          const ports = [await freePort(), await freePort(), await freePort()] as const;
          apps.push({ name, root, driver, hasTraffic, ports, state, operation, moment });
        }
      }
      if (apps.length > 0) kinds.push({ title, root, apps });
    }
  if (chosen && kinds.length === 0)
    throw new Error(`PAIRS_ONLY: none of these pairs can be, of PAIRS='${PAIRS}'`);
  return kinds;
}

/** Ends all that runs from a root, as if the disk was lost, and restores a backup of it into the same place. */
async function loseAndRestore({ guest }: PairWorld, { root, apps }: Kind): Promise<void> {
  const short = root.split('/').at(-1) ?? '';
  const script = `set -e
test -e /srv/passphrase || echo 'a passphrase of seven words or so' > /srv/passphrase
runner backup --to ${root}.age --passphrase-file /srv/passphrase
systemctl stop '${short}*@*.service'
rm -rf /srv/lost-${short}; mv ${root} /srv/lost-${short}`;
  const lost = await guest.sh(root, script);
  if (lost.status !== 0) throw new Error(lost.stderr);
  for (const app of apps) for (const { pid } of guest.processes(app)) process.kill(pid, 'SIGKILL');
  const restore = `install -d -m 0711 ${root}; rm -f /run/projects/${short}*
runner restore ${root}.age --passphrase-file /srv/passphrase`;
  const restored = await guest.sh(root, restore);
  if (restored.status !== 0) throw new Error(restored.stderr);
}

/** Does something with each of them, `jobs` at a time; what it throws is what differs. */
async function forEach(
  apps: readonly PairApp[],
  results: Results,
  act: (app: PairApp) => Promise<readonly string[] | undefined>,
): Promise<void> {
  const waiting = [...apps];
  const work = async () => {
    for (let app = waiting.shift(); app; app = waiting.shift()) {
      if (results.get(app)?.length) continue;
      try {
        const found = await act(app);
        if (found) results.set(app, found);
      } catch (error) {
        results.set(app, [error instanceof Error ? error.message : String(error)]);
      }
      const [reason] = results.get(app) ?? [];
      if (reason !== undefined)
        process.stderr.write(`${app.name} ${app.state} × ${app.operation}: ${reason}\n`);
    }
  };
  await Promise.all(Array.from({ length: Number(process.env.MODEL_JOBS ?? 4) }, work));
}

const NOTHING_DONE: ContainerResult = { status: 0, stdout: '', stderr: '' };

/** The pairs of one root that need no other; those of its servers are prepared. */
async function playKind(world: PairWorld, kind: Kind, results: Results): Promise<void> {
  const of = (wanted: (app: PairApp) => boolean) => kind.apps.filter(wanted);
  const isRestored = ({ state }: PairApp) => state === 'restored';
  const isOfServer = ({ operation }: PairApp) => OF_SERVERS.includes(operation);
  const ready = async (app: PairApp) => {
    await prepare(world, app);
    return undefined;
  };
  await forEach(of(isRestored), results, ready);
  if (of(isRestored).length > 0) await loseAndRestore(world, kind);
  await forEach(
    of((app) => !isOfServer(app)),
    results,
    async (app) => {
      if (!isRestored(app)) await prepare(world, app);
      const found = await judge(world, app, await operate(world, app));
      await world.guest.sh(app.root, `runner remove ${app.name} --yes --force --purge`);
      return found;
    },
  );
  await forEach(
    of((app) => app.operation === 'reboot' && !isRestored(app)),
    results,
    ready,
  );
}

/** What backups of whole servers bring back. */
async function moveKind(world: PairWorld, kind: Kind, results: Results): Promise<void> {
  const moved = kind.apps.filter(({ operation }) => operation === 'backup');
  if (moved.length === 0) return;
  await forEach(moved, results, async (app) => {
    if (app.state !== 'restored') await prepare(world, app);
    return undefined;
  });
  await loseAndRestore(world, kind);
  const fetched = await world.guest.sh(kind.root, 'runner fetch --deploy');
  await forEach(moved, results, (app) => judge(world, app, { ...fetched, status: 0 }));
}

/** The table with its results. */
function tableOf({ title, apps }: Kind, results: Results): string {
  const cell = (state: string, operation: string) => {
    const app = apps.find((each) => each.state === state && each.operation === operation);
    const found = app && results.get(app);
    if (!found) return app ? 'not run' : '.';
    return found.length === 0 ? 'ok' : 'FAILED';
  };
  const line = (cells: readonly string[]) =>
    cells.map((text, index) => text.padEnd(index === 0 ? 18 : 10)).join('');
  const lines = ALL.map((operation) =>
    line([operation, ...STATES.map((state) => cell(state, operation))]),
  );
  return [`\n${title}`, line(['', ...STATES]), ...lines].join('\n');
}

function report(kinds: readonly Kind[], results: Results): string {
  process.stdout.write(`${kinds.map((kind) => tableOf(kind, results)).join('\n')}\n`);
  for (const { title, apps } of kinds) {
    const done = apps.filter((app) => results.has(app));
    const failed = done.filter((app) => results.get(app)?.length);
    process.stdout.write(`(${done.length} pairs, ${failed.length} failed: ${title})\n`);
  }
  const failures = [...results].filter(([, found]) => found.length > 0);
  return failures
    .map(([{ driver, hasTraffic, state, operation, moment }, found]) => {
      const kind = `${driver} ${hasTraffic ? 'traffic' : 'plain'}`;
      return `${kind}: ${state} × ${operation} (${moment} s)\n  ${found.join('\n  ')}`;
    })
    .join('\n\n');
}

if (why !== undefined) test.skip(`a booted server: ${why}`, () => {});
else
  test('each pair of what an app is and what is done to it ends as the table says', async () => {
    const git = await startGitServer({ token: TOKEN });
    const kinds = await kindsOf();
    const guest = await bootGuest(
      git.url,
      kinds.map(({ root }) => root),
    );
    const world: PairWorld = { git, guest };
    const results: Results = new Map();
    try {
      for (const app of kinds.flatMap(({ apps }) => apps))
        await guest.container.ok(`cat > /etc/systemd/system/${app.name}@.service`, {
          stdin: unitOf(app),
        });
      await guest.container.ok('systemctl daemon-reload');
      for (const kind of kinds) await playKind(world, kind, results);
      const rebooted = kinds
        .flatMap(({ apps }) => apps)
        .filter((app) => app.operation === 'reboot');
      if (rebooted.length > 0) await guest.container.reboot();
      await forEach(rebooted, results, (app) => judge(world, app, NOTHING_DONE));
      for (const kind of kinds) await moveKind(world, kind, results);
      for (const { root } of kinds) {
        const { status, stdout, stderr } = await guest.sh(root, 'runner audit verify');
        assert.is(status, 0, stdout + stderr);
      }
    } finally {
      const failures = report(kinds, results);
      await guest.container.close();
      await git.close();
      assert.is(failures, '');
    }
  });

test.run();
