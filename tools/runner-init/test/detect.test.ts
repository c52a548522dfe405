import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lookAt } from '../src/look/checkout.ts';
import { type Analysis, analyse } from '../src/stacks/analyse.ts';
import { laidOut } from './root.ts';
import { FIXTURES, type Fixture, type Truth } from './vectors/repositories.ts';

/** The least share of repositories for which nothing has to be edited. */
const RIGHT = 0.85;

/** What was found, in the words of the table. */
function found(analysis: Analysis): Truth {
  if ('missing' in analysis) return { missing: analysis.missing };
  const { settings } = analysis.proposal;
  const at = (...path: string[]) =>
    settings.find((each) => each.path.join('.') === path.join('.'))?.value;
  const type = at('start', 'type');
  const url = at('health', 'url') as string | undefined;
  const variables = settings.filter(({ path }) => path[2] === 'env' && path[3] !== 'PORT');
  return {
    build: (at('build') ?? []) as string[],
    start: (type === 'process' ? at('start', 'run') : type) as string,
    ...(url !== undefined && { health: url.replace('http://127.0.0.1:${PORT}', '') }),
    ...(at('shared') !== undefined && { shared: at('shared') as string[] }),
    ...(variables.length > 0 && {
      env: Object.fromEntries(variables.map(({ path, value }) => [path[3], value])),
    }),
  };
}

/** Whether nothing has to be edited. */
function isRight(truth: Truth, seen: Truth): boolean {
  if (truth.missing !== undefined || seen.missing !== undefined) return false;
  try {
    assert.equal(seen, truth);
    return true;
  } catch {
    return false;
  }
}

const truthOf = ({ build, start, health, shared, env, missing }: Fixture): Truth =>
  JSON.parse(JSON.stringify({ build, start, health, shared, env, missing }));

const results = FIXTURES.map((fixture) => ({
  fixture,
  truth: truthOf(fixture),
  seen: found(analyse(lookAt(laidOut(fixture.files)))),
}));

test('there are at least 120 repositories of at least 12 stacks, each once', () => {
  assert.ok(FIXTURES.length >= 120, `${FIXTURES.length}`);
  assert.ok(new Set(FIXTURES.map(({ stack }) => stack)).size >= 12);
  assert.is(new Set(FIXTURES.map(({ name }) => name)).size, FIXTURES.length);
});

test('of the repositories at least 85 % need no edit', () => {
  const right = results.filter(({ truth, seen }) => isRight(truth, seen));
  const share = right.length / results.length;
  assert.ok(share >= RIGHT, `${right.length} of ${results.length}`);
});

for (const { fixture, truth, seen } of results) {
  test(`${fixture.name} is ${truth.missing === undefined ? 'proposed as its starter runs it' : 'answered with what is missing'}`, () => {
    if (truth.missing === undefined) return assert.equal(seen, truth);
    assert.match(seen.missing ?? '', truth.missing);
    assert.not.match(seen.missing ?? '\n', '\n');
  });
}

test.run();
