/**
 * No secret is seen anywhere: output, every file below the root, HOME and TMPDIR, command lines and
 * environments of all processes, by any command, when it succeeds and when it refuses.
 */
import { IS_WHOLE } from '@runner/testing/extent';
import { watchProcesses } from '@runner/testing/proc-watch';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { JOBS } from './contract-jobs.ts';
import { NOTIFY } from './contract-notify.ts';
import { PIPELINE } from './contract-pipeline.ts';
import { READING } from './contract-reading.ts';
import { REGISTRY } from './contract-registry.ts';
import { SECRETS } from './contract-secrets.ts';
import { START } from './contract-start.ts';
import type { Call, Entry } from './entry.ts';
import { type Searcher, searcherFor, TOKENS } from './known-secrets.ts';
import { SITUATIONS, type SituationName } from './situations.ts';
import { makeStage, type Stage } from './stage.ts';
import { type Walked, walk } from './walk.ts';

/** Situations in which the app's token cannot be opened: then only its shape gives it away. */
const KEYLESS: ReadonlySet<SituationName> = new Set([
  'the master key is lost',
  'others may read the master key',
  'the master key is damaged',
  'the master key is another one',
  'a token is damaged',
  'a token is that of another app',
  'the app has no token',
]);

/** Takes 20 seconds: how long a command waits for another one. */
const SLOW: SituationName = 'another command changes the registry';

/** What is to happen in each situation; undefined: what happens without it. */
function outcomes({ refusals }: Entry): Map<SituationName, string> {
  return new Map(
    Object.entries(refusals).flatMap(([outcome, names]) =>
      (names ?? []).map((name) => [name, outcome]),
    ),
  );
}

/** One situation for each outcome that no command before this one has shown. */
function notYetShown({ refusals }: Entry, shown: Set<string>): SituationName[] {
  return Object.entries(refusals).flatMap(([outcome, names = []]) => {
    const name = names.find((each) => each !== SLOW);
    if (name === undefined || shown.has(outcome)) return [];
    shown.add(outcome);
    return [name];
  });
}

class Walker {
  #stage: Promise<Stage> | undefined;
  #searcher: Searcher | undefined;
  #stop = () => {};
  #watching: ReturnType<typeof watchProcesses> | undefined;
  #except = (_pid: number) => {};
  cases = 0;

  /** Makes the stage and begins to watch all processes. */
  async stage(): Promise<Stage> {
    if (this.#stage) return this.#stage;
    this.#stage = makeStage();
    const stage = await this.#stage;
    this.#searcher = searcherFor(stage.secrets);
    // What an operator keeps in the environment for programs of his own is passed on to some.
    const { foreign: _, ...ours } = stage.secrets;
    const stopped = new Promise<void>((resolve) => {
      this.#stop = resolve;
    });
    await new Promise<void>((begun) => {
      this.#watching = watchProcesses(Object.values(ours), async ({ except }) => {
        this.#except = except;
        begun();
        await stopped;
      });
    });
    return stage;
  }

  async walk(entry: Entry, call: Call, situation?: SituationName): Promise<Walked> {
    const stage = await this.stage();
    const walked = await walk(
      { stage, searcher: this.#searcher as Searcher },
      { entry, call },
      situation && SITUATIONS[situation],
      // It was given what it was given.
      (pid) => this.#except(pid),
    );
    this.cases += 1;
    const keyless = situation !== undefined && KEYLESS.has(situation);
    const unknowable =
      entry.command === 'jobs run'
        ? // It shows what the app's own program prints.
          /^(?:logs\/jobs\/[^:]+|stderr): \w+: (?!raw)/
        : /^logs\/deploys\/[^:]+: \w+: (?!raw)/;
    const leaks = walked.leaks.filter((leak) => !(keyless && unknowable.test(leak)));
    const what = `runner ${entry.command}: ${situation ?? JSON.stringify(call.args)}`;
    assert.equal(leaks, [], what);
    assert.not.match(walked.ended.stderr, /this is a bug|\n {4}at /, what);
    return walked;
  }

  /** Stops watching; the sightings. */
  async end() {
    const stage = await this.stage();
    this.#stop();
    const seen = await this.#watching;
    await stage.close();
    return seen;
  }
}

/** Status and code, as a situation's outcome is written in the contract. */
const told = ({ ended, code }: Walked) => code ?? `status ${ended.status}`;

/** Tests each call of these commands and each code once; the whole test, each command in all situations. */
function testLeaks(group: string, entries: readonly Entry[]): void {
  const walker = new Walker();
  const shown = new Set<string>();

  test(`${group}: the stage itself has leaked nothing`, async () => {
    const { template, secrets } = await walker.stage();
    const { below } = searcherFor(secrets);
    assert.equal(
      below(template, (path) => path === 'mkey' || path === 'config.yml'),
      [],
    );
  });

  for (const entry of entries) {
    const what = `runner ${entry.command}`;
    test(`${what} keeps secrets when it succeeds`, async () => {
      for (const call of entry.calls) {
        const { ended } = await walker.walk(entry, call);
        assert.is(
          ended.status,
          call.status ?? 0,
          `${what} ${String(call.args)}: ${ended.stdout}${ended.stderr}`,
        );
      }
    });

    test(`${what} keeps secrets when it is called wrongly`, async () => {
      const nonsense = { args: [`--nonsense=${TOKENS.plain}`] };
      for (const [code, call] of [['usage', nonsense] as const, ...(entry.wrong ?? [])]) {
        const walked = await walker.walk(entry, call);
        assert.is(told(walked), code, `${what}: ${walked.ended.stderr}`);
      }
    });

    const all = Object.keys(SITUATIONS) as SituationName[];
    const names = IS_WHOLE ? all : notYetShown(entry, shown);
    if (names.length === 0) continue;
    test(`${what} keeps secrets in ${IS_WHOLE ? 'every situation' : 'trouble'}`, async () => {
      const wanted = outcomes(entry);
      for (const name of names.filter((each) => each !== SLOW || wanted.has(each))) {
        const walked = await walker.walk(entry, entry.calls[0], name);
        const { ended } = walked;
        const outcome = wanted.get(name);
        const where = `${what}, ${name}: ${ended.stderr}`;
        if (outcome === undefined) assert.is(ended.status, entry.calls[0].status ?? 0, where);
        else assert.is(told(walked), outcome, where);
      }
    });
  }

  test(`${group}: no secret was in the command line or environment of any process`, async () => {
    const { sightings, rounds } = (await walker.end()) ?? {};
    assert.ok((rounds ?? 0) > walker.cases);
    assert.equal(sightings, []);
    process.stdout.write(`(${walker.cases} cases without a leak)\n`);
  });
}

testLeaks('pipeline', PIPELINE);
testLeaks('jobs', JOBS);
testLeaks('registry', [...REGISTRY, ...START, ...SECRETS]);
testLeaks('reading', READING);
testLeaks('notify', NOTIFY);
test.run();
