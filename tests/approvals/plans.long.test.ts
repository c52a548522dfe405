/** PLAN_COUNT plans, applied after something has happened, or nothing: what was planned, or why not. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeApp } from '@runner/common/apps/change';
import { pauseApps, resumeApps } from '@runner/common/apps/pause';
import { readPlan } from '@runner/common/apps/plans';
import { requireApp } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import { pathsOf } from '@runner/common/foundation/paths';
import { deploy } from '@runner/deploy/pipeline/deploy';
import { approve } from '@runner/deploy/plan/approve';
import { rollBackByHand } from '@runner/deploy/rollback/rollback';
import { randomOf } from '@runner/testing/random';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld, REPO, type World } from '../deploys/world.ts';
import { HOUR, ioOf, planIn, silent } from './library.ts';

const COUNT = Number(process.env.PLAN_COUNT ?? 24);
const test = suite('plans');

type What = { readonly root: string; readonly world: World; readonly n: number };
const RULE = 'require_approval: { shop: { deploy: 1, rollback: 1, by: [bob] } }\n';
const commit = ({ world, n }: What, more = {}) =>
  world.git.commit(REPO, { VERSION: `${n}` }, `commit ${n}`, more);
const config = ({ root }: What, change: (text: string) => string) => {
  const path = join(root, 'config.yml');
  writeFileSync(path, change(readFileSync(path, 'utf8')));
};
const changed = ({ root }: What, change: Parameters<typeof changeApp>[1]) =>
  void changeApp({ io: ioOf(), paths: pathsOf(root), command: 'test', app: 'shop' }, change);
const now = <T extends object>(root: string, more: T) => {
  const { signal } = new AbortController();
  const base = {
    io: ioOf(),
    paths: pathsOf(root),
    app: 'shop',
    reporter: silent,
    trigger: 'manual',
  };
  return { ...base, notify: false, signal, next: () => signal, emergency: 'a test', ...more };
};

/** What may happen, and what apply says; `''`: it applies. `ahead`: ms by which the clock is moved. */
const HAPPENS: Readonly<
  Record<
    string,
    { act(what: What): unknown; says: string | RegExp; deploysSay?: string; ahead?: number }
  >
> = {
  nothing: { act: () => {}, says: '' },
  'a push': { act: (what) => commit(what), says: '' },
  'a force push': {
    act: (what) => commit(what, { force: true }),
    says: '',
    deploysSay: 'does not have it',
  },
  'another deploy': {
    act: async (what) => {
      await commit(what);
      await deploy(now(what.root, {}));
    },
    says: 'active version of default was',
  },
  'a rollback': {
    act: async ({ root }) => {
      const choice = { to: undefined, instance: undefined, force: false };
      // After several there is nothing older.
      await rollBackByHand(now(root, choice)).catch(() => deploy(now(root, {})));
    },
    says: 'active version of default was',
  },
  'a pause': {
    act: ({ root }) => pauseApps({ io: ioOf(), paths: pathsOf(root) }, ['shop'], null, 'x'),
    says: 'pause was none and is paused by',
  },
  'a hold': {
    act: (what) =>
      changed(what, (app) => ({
        ...app,
        held: { commit: 'a'.repeat(40), since: '2026', reason: `held ${what.n}` },
      })),
    says: `hold was `,
  },
  'a stop': {
    act: (what) =>
      changed(what, (app) => ({
        ...app,
        stopped: { since: '2026', by: 'x', reason: null, instances: ['default'] },
      })),
    says: 'stop was none and is default stopped by x',
  },
  'a break': {
    act: (what) =>
      changed(what, (app) => ({
        ...app,
        instances: {
          default: {
            ...(app.instances.default as never as object),
            broken: { since: '2026', reason: 'x' },
          } as never,
        },
      })),
    says: 'trouble of default was none',
  },
  'a secret': {
    act: ({ root, n }) =>
      run('runner-env', ['set', 'shop', 'S', '--file', '-'], { root, stdin: `secret ${n}` }),
    says: /secret S was (set|changed)/,
  },
  'another branch': {
    act: (what) => changed(what, (app) => ({ ...app, paths: [`p${what.n}`] })),
    says: 'repository was changed',
  },
  'the file of the operator': {
    act: (what) =>
      changed(what, (app) => ({
        ...app,
        deploy_file: { text: `keep: ${5 + (what.n % 40)}\n`, since: '2026', by: 'x' },
      })),
    says: /operator's .deploy.yml was (set|changed)/,
  },
  'a migration': {
    act: (what) =>
      changed(what, (app) => ({
        ...app,
        migrations: [
          {
            version: 'v',
            commit: 'c',
            deploy_id: `${what.n}`,
            at: '2020',
            verdict: 'proven',
            reasons: [],
          },
        ],
      })),
    says: 'schema of the database was changed',
  },
  'a setting': {
    act: (what) => config(what, (text) => `${text}build: { memory: ${what.n + 1}G }\n`),
    says: 'setting build was set',
  },
  'a setting of another app': {
    act: (what) => config(what, (text) => `${text}sandbox: { apps: { blog: "off" } }\n`),
    says: 'setting sandbox was set',
  },
  'another rule of another app': {
    act: (what) =>
      config(what, (text) =>
        text.replace('by: [bob] } }', 'by: [bob] }, blog: { deploy: 1, by: [x] } }'),
      ),
    says: '',
  },
  'another rule': {
    act: (what) => config(what, (text) => text.replace('by: [bob]', 'by: [bob, eve]')),
    says: 'required approvals was changed',
  },
  'a channel': {
    act: (what) =>
      config(
        what,
        (text) => `${text}notify: { discord_webhook: "https://127.0.0.1:1/api/webhooks/1/x" }\n`,
      ),
    says: 'active channels was none and is discord',
  },
  expiry: { act: () => {}, says: 'expired at', ahead: 25 * HOUR },
  'a clock set back': { act: () => {}, says: 'expired at', ahead: -HOUR },
};

test(`${COUNT} plans do what they say, or say what has changed`, () =>
  inWorld(async (world) => {
    const { root } = world;
    const paths = pathsOf(root);
    const plain = `${readFileSync(join(root, 'config.yml'), 'utf8')}${RULE}`;
    const file = { '.deploy.yml': 'keep: 9\n' };
    for (const n of [-2, -1]) {
      await world.git.commit(REPO, { ...file, VERSION: `${n}` }, `c${n}`);
      await deploy(now(root, {}));
    }
    const random = randomOf(Number(process.env.SEED ?? 7));
    const counts: Record<string, number> = {};
    for (let n = 0; n < COUNT; n += 1) {
      const names = Object.keys(HAPPENS);
      const name = (
        n < names.length ? names[n] : names[Math.floor(random() * names.length)]
      ) as string;
      const { act, says, deploysSay = says, ahead = 0 } = HAPPENS[name] as (typeof HAPPENS)[string];
      const what = { root, world, n };
      // A server in order, with a version to go back to and a commit to go to.
      writeFileSync(join(root, 'config.yml'), plain);
      resumeApps({ io: ioOf(), paths }, ['shop']);
      changed(
        what,
        ({ held: _, stopped: __, paths: ___, deploy_file: ____, migrations: _____, ...app }) => {
          for (const each of Object.values(app.instances)) each.broken = null;
          return { ...app, held: null } as never;
        },
      );
      await commit({ ...what, n: n + 0.7 });
      // What can go back may be planned to.
      const [kept] = requireApp(paths, 'shop').instances.default?.previous ?? [];
      const goesBack = name !== 'a rollback' && kept !== undefined && random() < 0.3;
      const stored = goesBack ? await planIn(root, 'rollback').catch(() => undefined) : undefined;
      const verb = stored ? 'rollback' : 'deploy';
      const { plan } = stored ?? (await planIn(root, verb));
      const id = plan.id;
      await approve({
        io: ioOf(),
        paths,
        id,
        by: 'bob',
        how: 'fleet',
        applies: false,
        reporter: silent,
      });
      await act(what);
      const before = {
        state: requireApp(paths, 'shop').instances.default?.current,
        log: world.events().length,
      };
      const io = ioOf(ahead);
      const given = { ...now(root, {}), io, plan: id, emergency: undefined };
      const wanted = verb === 'deploy' ? deploysSay : says;
      let failure: unknown;
      try {
        if (verb === 'deploy') await deploy({ ...given, ref: plan.commit ?? undefined });
        else await rollBackByHand({ ...given, to: undefined, instance: undefined, force: false });
      } catch (error) {
        failure = error;
      }
      const after = requireApp(paths, 'shop').instances.default?.current;
      const label = `${n}: ${verb} after ${name}`;
      if (wanted === '') {
        assert.is(failure, undefined, `${label}: ${failure}`);
        assert.is(after?.commit, plan.commit, label);
        assert.is(world.events().at(-1)?.plan, id, label);
        assert.is(readPlan(paths, id).ended?.how, 'done', label);
      } else {
        assert.instance(failure, Failure, `${label} was not refused`);
        assert.match((failure as Failure).message, wanted, label);
        assert.equal(after, before.state, label);
        assert.is(world.events().length, before.log, label);
        assert.is(readPlan(paths, id).applied, null, label);
      }
      counts[wanted === '' ? 'applied' : 'refused'] =
        (counts[wanted === '' ? 'applied' : 'refused'] ?? 0) + 1;
    }
    if (process.env.PLAN_LOG) appendFileSync(process.env.PLAN_LOG, `${JSON.stringify(counts)}\n`);
  }));

test.run();
