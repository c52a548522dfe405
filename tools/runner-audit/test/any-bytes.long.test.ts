/** Any bytes as an audit log: no reader crashes, and no good record is lost by them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { writeState } from '@runner/testing/app-states';
import { run } from '@runner/testing/run';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logOf, logPath, newRoot, record } from './log.ts';

const RUNS = 10;

/** A line that is no record of ours, without a newline in it. */
const junk = fc.oneof(
  fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
  fc
    .string({ unit: 'binary', maxLength: 100 })
    .map((text) => Buffer.from(text.replaceAll('\n', ''))),
  fc.json().map((text) => Buffer.from(text.replaceAll('\n', ' '))),
  fc
    .constantFrom(
      '\ufeff{}',
      '{"project":"shop","event_type":"DeployFailure","version":"cut',
      '"shop" DeployFailure',
      '{"event_type":"DeployFailure","project":["shop"]}',
      '{"timestamp":{},"deploy_id":[],"event":1,"app":null}',
      '{"__proto__":{"project":"shop"},"event_type":"DeployFailure"}',
      '\u0000\u0000\u0000',
      '\u001b]0;x\u0007',
      '1e999',
    )
    .map((text) => Buffer.from(text)),
);
const good = fc
  .nat(999_999)
  .map((number) =>
    Buffer.from(JSON.stringify(record(`v${number}`, { event_type: 'DeployFailure', good: true }))),
  );
const someLog = fc.array(fc.oneof({ weight: 3, arbitrary: junk }, { weight: 1, arbitrary: good }), {
  maxLength: 12,
});

const isGood = (value: unknown) =>
  value !== null && typeof value === 'object' && (value as { good?: unknown }).good === true;

/** The good versions among the lines of JSON. */
function goodOnes(text: string): string[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((each) => JSON.parse(each))
    .filter(isGood)
    .map(({ version }) => version);
}

test('list, tail, verify and last-error read on; emit appends whole records behind', async () => {
  await fc.assert(
    fc.asyncProperty(someLog, someLog, fc.boolean(), async (older, live, ended) => {
      const root = newRoot();
      mkdirSync(join(root, 'logs'), { recursive: true });
      writeState(root, 'shop');
      const bytes = (lines: readonly Buffer[]) =>
        Buffer.concat(lines.flatMap((each) => [each, Buffer.from('\n')]));
      const all = bytes(live);
      const before = ended ? all : all.subarray(0, -1);
      writeFileSync(logPath(root), before);
      writeFileSync(`${logPath(root)}.1.gz`, gzipSync(bytes(older)));
      const versionsIn = (lines: readonly Buffer[]) =>
        lines
          .map(String)
          .filter((each) => each.endsWith('"good":true}'))
          .map((each) => JSON.parse(each).version);
      const expected = [...versionsIn(older), ...versionsIn(live)];

      const tool = (args: string[]) => run('runner-audit', args, { root });
      const lastError = ['last-error', 'shop', '--json'];
      const [list, newest, tail, verify, error] = await Promise.all([
        tool(['list', '--json']),
        tool(['list', '--json', '-n', '100']),
        tool(['tail', '--json', '-n', '100']),
        tool(['verify', '--json']),
        run('runner-debug', lastError, { root }),
      ]);
      assert.equal(goodOnes(list.stdout), expected);
      assert.is(newest.stdout, list.stdout);
      assert.is(tail.stdout, list.stdout);
      const { records } = JSON.parse(verify.stdout);
      assert.is(records, list.stdout.split('\n').length - 1);
      assert.equal([list.status, newest.status, tail.status, error.status], [0, 0, 0, 0]);
      const newestGood = JSON.parse(error.stdout);
      if (expected.length > 0) assert.is(newestGood.version, expected.at(-1));
      else assert.is(newestGood, null);
      for (const { stderr } of [list, newest, tail, verify, error])
        assert.not.match(stderr, 'this is a bug');

      const emit = await tool(['emit', 'DeployStarted', '--project', 'shop', '--version', 'v1']);
      assert.is(emit.status, 0);
      assert.ok(logOf(root).endsWith(`${before.length > 0 ? '\n' : ''}${emit.stdout}`));
      assert.is((await tool(['tail', '--json', '-n', '1'])).stdout, emit.stdout);
    }),
    { numRuns: RUNS },
  );
});

test('any bytes on the standard input of emit leave only whole events in the log', async () => {
  await fc.assert(
    fc.asyncProperty(someLog, async (lines) => {
      const root = newRoot();
      const stdin = Buffer.concat(lines.flatMap((each) => [each, Buffer.from('\n')]));
      const { status, stdout, stderr } = await run('runner-audit', ['emit'], { root, stdin });
      assert.not.match(stderr, 'this is a bug');
      const wanted = lines.map(String).filter((each) => each.endsWith('"good":true}'));
      assert.equal(
        goodOnes(stdout),
        wanted.map((each) => JSON.parse(each).version),
      );
      if (stdout !== '') assert.is(logOf(root), stdout);
      assert.ok(status === 0 || (status === 1 && stderr !== ''));
      for (const each of stdout.split('\n').filter(Boolean))
        assert.is(line(JSON.parse(each)), `${each}\n`);
    }),
    { numRuns: RUNS },
  );
});

test.run();
