/** {first deploy, second} × {a failure at each stage}: what answers, and what is reported. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { failingAt, RENAMED, SWITCHED_OFF, switched } from '@runner/testing/killing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  announced,
  look,
  makeStage,
  SITUATIONS,
  type Stage,
  soonGivenUp,
  unharmed,
} from './matrix.ts';

const test = suite('deploys that fail');

const FAILED = ['DeployStarted', 'DeployFailure'];
const BACK = [...FAILED, 'RollbackSuccess'];

interface Row {
  readonly at: string;
  /** Pushes v2 or breaks something; the environment of the deploy. */
  readonly prepare: (stage: Stage) => Promise<Record<string, string> | undefined>;
  /** Beginning of the failure's text. */
  readonly error?: RegExp;
  readonly events: readonly string[];
  /** Failures that count towards the block. */
  readonly counted: number;
}

const pushed =
  (more: string, files = {}) =>
  async ({ world }: Stage) => {
    await world.push('v2', { deploy: announced(world, more), files });
    return undefined;
  };

async function unhealthy({ world }: Stage): Promise<undefined> {
  await world.push('v2', { deploy: soonGivenUp(world), health: 503 });
}

/** Here a first deploy takes the same steps as any other. */
const BEFORE_THE_SWITCH: readonly Row[] = [
  {
    at: 'the fetch',
    async prepare({ world }) {
      await world.push('v2');
      world.git.fail('drop', Number.POSITIVE_INFINITY);
      return undefined;
    },
    error: /^the code host dropped the connection/,
    events: ['DeployFailure'],
    counted: 0,
  },
  {
    at: 'its .deploy.yml',
    prepare: pushed('strat: 1\n'),
    error: /^config: \.deploy\.yml:5: strat: unknown key/,
    events: FAILED,
    counted: 1,
  },
  {
    at: 'the export',
    prepare: pushed('shared: [out/kept/]\n', { out: { link: '/tmp' } }),
    error: /^export: shared: out is not a plain folder in this commit$/,
    events: FAILED,
    counted: 1,
  },
  {
    at: 'the build',
    prepare: pushed('build: "echo no compiler; exit 7"\n'),
    error: /^build: .* ended with status 7\nno compiler$/,
    events: FAILED,
    counted: 1,
  },
  {
    at: 'the rename to a release',
    prepare: async (stage) => {
      await pushed('')(stage);
      return failingAt(RENAMED);
    },
    error: /^release: the disk reports an error \(EIO\)/,
    events: FAILED,
    counted: 0,
  },
];

const FROM_THE_SWITCH_ON: readonly Row[] = [
  {
    at: 'the switch',
    prepare: async (stage) => {
      await pushed('')(stage);
      return failingAt(switched());
    },
    error: /^switch: the disk reports an error \(EIO\)/,
    events: BACK,
    counted: 0,
  },
  {
    at: 'the start',
    prepare: pushed('', { 'server.js': "throw new Error('no database');\n" }),
    // On a busy machine it dies after it has counted as started: then health finds it dead.
    error: /^(start|health): `exec node server\.js` ended with status 1\n[\s\S]*no database/,
    events: BACK,
    counted: 1,
  },
  {
    at: 'its health',
    prepare: unhealthy,
    error: /^health: .*, not healthy within 0\.3 s/,
    events: BACK,
    counted: 1,
  },
];

const ROWS = {
  first: FROM_THE_SWITCH_ON,
  second: [...BEFORE_THE_SWITCH, ...FROM_THE_SWITCH_ON],
};

for (const situation of SITUATIONS) {
  for (const { at, prepare, error, events, counted } of ROWS[situation]) {
    test(`a ${situation} deploy that fails at ${at} leaves what ran before`, async () => {
      const stage = await makeStage(situation);
      const { world, chat } = stage;
      try {
        const env = await prepare(stage);
        const done = await world.deploy([], env);
        assert.is(done.status, 1, done.stderr);
        const active = situation === 'first' ? /Nothing is active now\.\n$/ : /v1 is active\.\n$/;
        // What got no commit has no version to report.
        if (events.includes('DeployStarted')) assert.match(done.stdout, active);
        assert.equal(await look(stage), unharmed(situation, events, counted));
        const failure = world.events().find((event) => event.event_type === 'DeployFailure');
        if (error) assert.match(String(failure?.error), error);
      } finally {
        await world.close();
        await chat.close();
      }
    });
  }
}

test('a second deploy that fails, and whose rollback fails too, is reported as such, with status 3', async () => {
  const stage = await makeStage('second');
  const { world, chat } = stage;
  rmSync(join(world.root, 'apps/shop/instances/default/current/server.js'));
  await unhealthy(stage);
  const done = await world.deploy();
  assert.is(done.status, 3);
  assert.match(done.stdout, /The rollback failed too: rollback to v1 failed: (start|health): /);
  const picture = await look(stage);
  assert.equal(picture, { ...unharmed('second', FAILED, 1), page: null });
  const failure = world.events().at(-1);
  assert.equal([failure?.rolled_back, failure?.previous_version], [false, 'v1']);
  await world.close();
  await chat.close();
});

test('a first deploy that fails, and that cannot be switched off again, is reported as such, with status 3', async () => {
  const stage = await makeStage('first');
  const { world, chat } = stage;
  await unhealthy(stage);
  const done = await world.deploy([], failingAt(SWITCHED_OFF));
  assert.is(done.status, 3);
  assert.match(done.stdout, /The rollback failed too: rollback to nothing failed: /);
  const picture = await look(stage);
  assert.equal(picture, { ...unharmed('first', FAILED, 1), current: 'v2' });
  await world.close();
  await chat.close();
});

test.run();
