/** A commit whose checks failed or are not finished is never let through, whatever they do in between. */
import type { CommitChecks, RequiredChecks } from '@runner/common/apps/checks';
import type { HostApi } from '@runner/common/hosts/api';
import { askChecks } from '@runner/deploy/checks/ask';
import { verdictOf } from '@runner/deploy/checks/verdict';
import { HOST_ROUTES } from '@runner/testing/host-api-routes';
import type { ApiCall, ApiCheck, ApiType } from '@runner/testing/host-api-types';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

type State = 'passed' | 'failed' | 'pending';
const SHA = '1a2b3c'.padEnd(40, '0');
const NAMES = ['build', 'test', 'lint'];
const TYPES = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;

/** The words of each host for a state; some have several. */
const WORDS: Readonly<Record<ApiType, Readonly<Record<State, readonly string[]>>>> = {
  github: {
    passed: ['success', 'neutral', 'skipped'],
    failed: ['failure', 'cancelled', 'timed_out', 'action_required', 'startup_failure', 'stale'],
    pending: ['queued', 'in_progress', 'waiting'],
  },
  gitlab: {
    passed: ['success', 'skipped'],
    failed: ['failed', 'canceled'],
    pending: ['created', 'pending', 'running', 'manual', 'scheduled'],
  },
  gitea: {
    passed: ['success', 'skipped'],
    failed: ['failure', 'error', 'warning'],
    pending: ['pending'],
  },
  bitbucket: { passed: ['SUCCESSFUL'], failed: ['FAILED', 'STOPPED'], pending: ['INPROGRESS'] },
};

interface Step {
  readonly name: string;
  readonly state: State;
  readonly word: number;
  /** GitHub: a commit status instead of a check run. */
  readonly isStatus: boolean;
}

function checkOf(type: ApiType, { name, state, word, isStatus }: Step): ApiCheck {
  const isContext = type === 'github' && isStatus;
  const words = isContext
    ? { passed: ['success'], failed: ['failure', 'error'], pending: ['pending'] }[state]
    : WORDS[type][state];
  const text = words[word % words.length] as string;
  if (type !== 'github' || isContext) return { name, status: text };
  if (state === 'pending') return { name, status: text, conclusion: null };
  return { name, status: 'completed', conclusion: text };
}

/** The API of a host in this process; counts calls, and those that cost nothing. */
function apiOf(type: ApiType, checks: Map<string, ApiCheck[]>) {
  const count = { calls: 0, unchanged: 0 };
  const host = { checks, pipelines: new Map<string, string>() };
  const api: HostApi = {
    type,
    async get(path, headers = {}) {
      count.calls += 1;
      const url = new URL(path, 'http://host');
      const call = { host, path: url.pathname, query: url.searchParams, method: 'GET' };
      const token = { scopes: ['read_api', 'read:repository'] };
      const [status, body] = HOST_ROUTES[type]({ ...call, token } as unknown as ApiCall);
      const text = JSON.stringify(body);
      if (headers['if-none-match'] === text) {
        count.unchanged += 1;
        return { status: 304, headers: {}, body: '' };
      }
      return { status, headers: { etag: text }, body: text };
    },
    post: () => Promise.reject(new Error('nothing is posted')),
    change: () => Promise.reject(new Error('nothing is changed')),
    said: () => '',
    redact: (text) => text,
  };
  return { api, count };
}

const step = fc.record({
  name: fc.constantFrom(...NAMES),
  state: fc.constantFrom<State>('passed', 'failed', 'pending'),
  word: fc.nat(9),
  isStatus: fc.boolean(),
});

/** What may be deployed, said another way than the tested code does. */
function mayDeploy(required: RequiredChecks, now: ReadonlyMap<string, State>): boolean {
  const names = required === 'all' ? [...now.keys()] : required;
  return names.length > 0 && names.every((name) => now.get(name) === 'passed');
}

test('in 500 random schedules of checks, on every host, only passed commits are deployed', async () => {
  const required = fc.oneof(
    fc.constant('all' as const),
    fc.subarray(NAMES, { minLength: 1 }) as fc.Arbitrary<RequiredChecks>,
  );
  const schedule = fc.tuple(
    fc.constantFrom(...TYPES),
    required,
    fc.array(step, { minLength: 1, maxLength: 12 }),
  );
  await fc.assert(
    fc.asyncProperty(schedule, async ([type, wanted, steps]) => {
      const now = new Map<string, Step>();
      const checks = new Map<string, ApiCheck[]>();
      const { api, count } = apiOf(type, checks);
      let seen: CommitChecks | undefined;
      for (const each of [undefined, ...steps]) {
        if (each) now.set(each.name, each);
        const mine = { name: 'runner/shop', status: type === 'bitbucket' ? 'FAILED' : 'failure' };
        checks.set(SHA, [mine, ...[...now.values()].map((other) => checkOf(type, other))]);
        const before = count.calls;
        seen = await askChecks(api, 'acme/shop', SHA, seen);
        assert.ok(count.calls - before <= 2);
        const states = new Map([...now].map(([name, { state }]) => [name, state]));
        assert.is(verdictOf(wanted, seen).result === 'passed', mayDeploy(wanted, states));
        // Nothing new costs nothing.
        const unchanged = count.unchanged;
        assert.equal(await askChecks(api, 'acme/shop', SHA, seen), seen);
        assert.ok(count.unchanged - unchanged === (type === 'github' || type === 'gitlab' ? 2 : 1));
      }
    }),
    { numRuns: 300 },
  );
});

test('the reason for waiting is described in words', () => {
  const checks = [
    { name: 'build', state: 'passed' },
    { name: 'test', state: 'passed' },
    { name: 'lint', state: 'pending' },
  ] as const;
  const seen = { commit: SHA, checks };
  assert.is(verdictOf('all', seen).text, 'waiting: 2 of 3 checks of 1a2b3c');
  assert.is(verdictOf(['deploy'], seen).text, 'waiting: 0 of 1 checks of 1a2b3c');
  assert.is(
    verdictOf('all', { commit: SHA, checks: [] }).text,
    'waiting: 1a2b3c has no checks yet',
  );
  const red = { commit: SHA, checks: [...checks, { name: 'e2e', state: 'failed' as const }] };
  assert.is(verdictOf('all', red).text, 'not deployed: e2e of 1a2b3c failed');
  assert.is(verdictOf(['build', 'test'], red).result, 'passed');
});

test.run();
