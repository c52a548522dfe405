/** Whether the checks of a commit let `fetch --deploy` deploy it. */
import type { CommitChecks, RequiredChecks, SeenCheck } from '@runner/common/apps/checks';

export interface ChecksVerdict {
  readonly result: 'passed' | 'checking' | 'checks_failed';
  readonly text: string;
}

/** Characters of a commit that a sentence shows. */
const SHOWN = 6;

/** `all`: every check that the host knows, and at least one; else those of these names. */
export function verdictOf(
  required: RequiredChecks,
  { commit, checks }: Pick<CommitChecks, 'commit' | 'checks'>,
): ChecksVerdict {
  const short = commit.slice(0, SHOWN);
  const wanted = required === 'all' ? checks : required.map((name) => stateOf(name, checks));
  if (wanted.length === 0)
    return { result: 'checking', text: `waiting: ${short} has no checks yet` };
  const failed = wanted.find(({ state }) => state === 'failed');
  if (failed)
    return { result: 'checks_failed', text: `not deployed: ${failed.name} of ${short} failed` };
  const passed = wanted.filter(({ state }) => state === 'passed').length;
  const text = `waiting: ${passed} of ${wanted.length} checks of ${short}`;
  return { result: passed === wanted.length ? 'passed' : 'checking', text };
}

/** Several checks can have one name: all of them count. */
function stateOf(name: string, checks: readonly SeenCheck[]): SeenCheck {
  const states = checks.filter((check) => check.name === name).map(({ state }) => state);
  if (states.includes('failed')) return { name, state: 'failed' };
  const isPassed = states.length > 0 && states.every((state) => state === 'passed');
  return { name, state: isPassed ? 'passed' : 'pending' };
}
