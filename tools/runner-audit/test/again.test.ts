import { run, shell } from '@runner/testing/run';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logOf, newRoot, record } from './log.ts';

const emit = (root: string, stdin: string) => run('runner-audit', ['emit'], { root, stdin });

test('records of the log are echoed in any order, and none is written a second time', async () => {
  const root = newRoot();
  const given = Array.from({ length: 30 }, (_, number) => line(record(`v${number}`)));
  await emit(root, given.join(''));
  const log = logOf(root);
  const lines = log.trimEnd().split('\n');
  await fc.assert(
    fc.asyncProperty(fc.subarray(lines, { minLength: 1 }), fc.boolean(), async (some, reverse) => {
      const stdin = `${(reverse ? some.reverse() : some).join('\n')}\n`;
      const { status, stdout } = await emit(root, stdin);
      assert.equal([status, stdout, logOf(root)], [0, stdin, log]);
    }),
    { numRuns: 8 },
  );
});

test('records that another tool sends again are no problem to verify', async () => {
  const root = newRoot();
  const both = ['DeployStarted', 'DeploySuccess'].map((event_type) =>
    line(record('v1', { event_type, deploy_id: 'aaaa1111' })),
  );
  for (const _ of [1, 2]) assert.is((await emit(root, both.join(''))).status, 0);
  const { status, stdout } = await run('runner-audit', ['verify'], { root });
  assert.is(status, 0, stdout);
});

test('records of another log are written, whatever their numbers', async () => {
  const [one, other] = [newRoot(), newRoot()];
  await emit(one, Array.from({ length: 9 }, (_, number) => line(record(`a${number}`))).join(''));
  await emit(other, line(record('b')));
  const { stdout } = await emit(other, logOf(one));
  assert.equal(
    logOf(other)
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each).version),
    ['b', ...Array.from({ length: 9 }, (_, number) => `a${number}`)],
  );
  assert.is((await emit(other, stdout)).stdout, stdout);
  assert.is(logOf(other).trimEnd().split('\n').length, 10);
});

test('records that are written while the pipe is open are known too', async () => {
  const root = newRoot();
  const script = `{
    for version in v1 v2 v3; do runner-audit emit DeployStarted --project shop --version $version; sleep 0.2; done
  } | runner-audit emit`;
  const { status, stdout } = await shell(script, { root });
  assert.equal([status, stdout], [0, logOf(root)]);
  assert.is(stdout.trimEnd().split('\n').length, 3);
});

test.run();
