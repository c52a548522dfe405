/**
 * {first deploy, second} × {kill -9 at each stage}: what answers, and what is reported, once the
 * next command has cleaned up. That one goes no further than recovering: the branch is gone.
 */

import { IS_WHOLE } from '@runner/testing/extent';
import {
  EXPORTING,
  killedAfter,
  RENAMED,
  recorded,
  SUCCESS_OPENED,
  SUCCESS_WRITTEN,
  staged,
  switched,
} from '@runner/testing/killing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  announced,
  look,
  makeStage,
  SITUATIONS,
  type Situation,
  soonGivenUp,
  unharmed,
} from './matrix.ts';

const FAILED = ['DeployStarted', 'DeployFailure'];
const BACK = [...FAILED, 'RollbackSuccess'];

interface Row {
  readonly when: string;
  readonly moment: string;
  /** The same for a first deploy, where it is another one. */
  readonly first?: string;
  /** What v2 answers on /health. */
  readonly health?: number;
  readonly error?: RegExp;
  readonly events: readonly string[];
  readonly counted?: number;
}

/** What is reported of a deploy that was killed at a stage. */
const during = (stage: string, events: readonly string[]) => ({
  error: new RegExp(`^deploy interrupted during ${stage}$`),
  events,
});

const UNHEALTHY = 'health: .* not healthy within 0\\.3 s';
/** What is reported of one whose rollback was killed; `v2` is not healthy. */
const onTheWayBack = (told = `^deploy interrupted during rollback\n${UNHEALTHY}`) => ({
  health: 503,
  error: new RegExp(told),
  events: BACK,
  counted: 1,
});

const ROWS: readonly Row[] = [
  { when: 'before its start was recorded', moment: staged('export'), events: [] },
  {
    when: 'after its start was recorded',
    moment: recorded('DeployStarted'),
    ...during('export', FAILED),
  },
  { when: 'while it exports', moment: EXPORTING, ...during('export', FAILED) },
  { when: 'while it builds', moment: staged('build'), ...during('build', FAILED) },
  { when: 'when the release has its name', moment: RENAMED, ...during('build', FAILED) },
  { when: 'before it switches', moment: staged('switch'), ...during('switch', FAILED) },
  { when: 'after it switched', moment: switched(), ...during('switch', BACK) },
  { when: 'while it starts', moment: staged('start'), ...during('start', BACK) },
  { when: 'while it waits for health', moment: staged('health'), ...during('health', BACK) },
  { when: 'when it is about to go back', moment: staged('rollback'), ...onTheWayBack() },
  {
    when: 'when it has switched back and nothing was started yet',
    moment: switched(2),
    first: `name === 'unlinkSync' && args[0].endsWith('/current')`,
    ...onTheWayBack(),
  },
  {
    // A failure and its rollback are one append.
    when: 'after its rollback was recorded',
    moment: recorded('RollbackSuccess'),
    first: recorded('DeployFailure'),
    ...onTheWayBack(`^${UNHEALTHY}`),
  },
];

/** Until it switches, a first deploy takes the same steps as any other. */
const FIRST = ROWS.slice(ROWS.findIndex(({ moment }) => moment === switched()));

/** A success is recorded, then sent, then in the state. */
const SUCCEEDED: readonly (readonly [when: string, moment: string])[] = [
  ['after its success was recorded', recorded('DeploySuccess')],
  ['before its success is in the state', SUCCESS_OPENED],
  ['after its success is in the state', SUCCESS_WRITTEN],
];

/** One moment for each way to clean up: nothing to do, going back, and going on back. */
const TYPICAL = ['while it builds', 'after it switched', 'when it is about to go back'];

const test = suite('deploys that are killed');

/** A test for each moment; with `--part`, for the typical ones. */
function killTests(situation: Situation): void {
  const rows = situation === 'first' ? FIRST : ROWS;
  for (const row of rows.filter(({ when }) => IS_WHOLE || TYPICAL.includes(when))) {
    test(`a ${situation} deploy killed ${row.when} is cleaned up by the next command`, async () => {
      const stage = await makeStage(situation);
      const { world, chat } = stage;
      try {
        const { health } = row;
        if (health === undefined)
          await world.push('v2', { deploy: announced(world, 'build: "true"\n') });
        else await world.push('v2', { deploy: soonGivenUp(world), health });
        const moment = situation === 'first' ? (row.first ?? row.moment) : row.moment;
        const killed = await world.deploy([], killedAfter(moment));
        assert.is(killed.signal, 'SIGKILL', killed.stderr);
        assert.not.equal(world.state().deploying, null);
        await world.git.deleteBranch('acme/shop', 'main');
        const next = await world.deploy();
        assert.equal([next.status, next.stdout], [1, ''], next.stderr);
        const { messages, ...picture } = await look(stage);
        const { messages: wanted, ...rest } = unharmed(situation, row.events, row.counted ?? 0);
        assert.equal(picture, rest);
        assert.equal([...messages].sort(), [...wanted].sort());
        const failure = world.events().find((event) => event.event_type === 'DeployFailure');
        if (row.error) assert.match(String(failure?.error), row.error);
      } finally {
        await world.close();
        await chat.close();
      }
    });
  }

  for (const [when, moment] of SUCCEEDED) {
    test(`a ${situation} deploy killed ${when} is a success, announced once`, async () => {
      const stage = await makeStage(situation);
      const { world, chat } = stage;
      await world.push('v2', { deploy: announced(world) });
      const killed = await world.deploy([], killedAfter(moment));
      assert.is(killed.signal, 'SIGKILL', killed.stderr);
      await world.git.deleteBranch('acme/shop', 'main');
      await world.deploy();
      const events = ['DeployStarted', 'DeploySuccess'];
      const v2 = { page: 'v2', current: 'v2', state: 'v2' };
      assert.equal(await look(stage), { ...unharmed(situation, events, 0), ...v2 });
      await world.close();
      await chat.close();
    });
  }
}

for (const situation of SITUATIONS) killTests(situation);

test.run();
