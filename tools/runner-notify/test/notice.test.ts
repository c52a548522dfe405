import { redactor } from '@runner/common/secrets/redactor';
import { Secret } from '@runner/common/secrets/secret';
import { codePoints } from '@runner/common/text/plain';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { announcementsOf } from '../src/message/announcement.ts';
import { noticeOf } from '../src/message/notice.ts';
import type { Announceable } from '../src/message/records.ts';

const SECRET = 'correct-horse-battery-staple';
const options = {
  redact: redactor([new Secret(SECRET)]),
  verboseErrors: true,
  random: () => 0xabababab / 2 ** 32,
};

function failure(fields: Record<string, unknown> = {}): Announceable {
  return {
    kind: 'DeployFailure',
    project: 'shop',
    fields: { version: 'v1.2.3', deploy_id: 'a1b2c3d4', ...fields },
  };
}

const UNITS: readonly (readonly [name: string, unit: string])[] = [
  ['ASCII', 'x'],
  ['CJK', '漢'],
  ['emoji', '😀'],
  ['combining marks', 'e\u0301'],
  ['family emoji', '👨‍👩‍👧‍👦'],
];

/** A text of exactly so many code points, made of whole units; `~` fills the rest. */
function textOf(unit: string, count: number): string {
  const size = codePoints(unit);
  return unit.repeat(Math.floor(count / size)) + '~'.repeat(count % size);
}

for (const [name, unit] of UNITS) {
  for (const count of [799, 800]) {
    test(`an error of ${count} code points of ${name} is shown whole, in one message`, async () => {
      const error = textOf(unit, count);
      const notice = await noticeOf(failure({ error }), options);
      assert.is(notice.error, error);
      assert.is(notice.log, undefined);
    });
  }

  test(`an error of 801 code points of ${name} is summed up, and a second message has it whole`, async () => {
    const error = textOf(unit, 801);
    const notice = await noticeOf(failure({ error }), options);
    assert.ok(codePoints(notice.error) <= 800);
    assert.ok(notice.error.length > 0);
    assert.is(notice.log, error);
  });

  for (const count of [3799, 3800]) {
    test(`a log of ${count} code points of ${name} is shown whole`, async () => {
      const error = textOf(unit, count);
      assert.is((await noticeOf(failure({ error }), options)).log, error);
    });
  }

  test(`of a log of 3801 code points of ${name} head and tail are shown, no character in halves`, async () => {
    const { log = '' } = await noticeOf(failure({ error: textOf(unit, 3801) }), options);
    assert.ok(codePoints(log) <= 3800);
    const [head, tail] = log.split(/\n… \d+ characters omitted …\n/) as [string, string];
    assert.is(head, unit.repeat(head.length / unit.length));
    assert.match(tail, /./);
    assert.is(tail.replace(/~+$/, '').length % unit.length, 0);
  });
}

test('the length is that of the cleaned error: what is stripped does not make a second message', async () => {
  const error = `${'\u001b[31mx\u001b[0m'.repeat(800)}\r\n`;
  const notice = await noticeOf(failure({ error }), options);
  assert.is(notice.error, 'x'.repeat(800));
  assert.is(notice.log, undefined);
});

test('escapes, progress, controls and secrets are gone before anything is cut', async () => {
  const error = `10%\r55%\rfailed: \u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u202e\u0007tok\u001b[1men=${SECRET}\nnext`;
  const notice = await noticeOf(failure({ error }), options);
  assert.is(notice.error, 'failed: link token=[REDACTED]\nnext');
});

test('a secret that stands across every cut is gone from summary and log', async () => {
  const filler = Array.from({ length: 4000 }, (_, index) => `${index} ${SECRET}`).join('\n');
  const { error, log = '' } = await noticeOf(failure({ error: filler }), options);
  assert.not.match(`${error}${log}`, /correct|horse|staple/);
});

test('blank lines around an error go, its first indent stays, and millions of spaces take no time', async () => {
  const summary = async (error: string) => (await noticeOf(failure({ error }), options)).error;
  assert.is(await summary(' \n\t\n  at x\n\n y \n \n'), '  at x\n\n y');
  assert.is(await summary('at x'), 'at x');
  // As long as a line of input may be: with a pattern that is hours.
  assert.match((await summary(`a${' '.repeat(4_000_000)}x`)) ?? '', /^a/);
});

test('a failure without a text says so', async () => {
  for (const error of [undefined, null, {}, '', ' \n\u001b[0m\r\n']) {
    const notice = await noticeOf(failure({ error }), options);
    assert.is(notice.error, 'no error text was recorded');
  }
});

test('values become one line of at most 200 code points, and missing ones are marked', async () => {
  const notice = await noticeOf(
    failure({
      version: `a\u001b[1m\n\tb ${'x'.repeat(300)}`,
      instance: undefined,
      deploy_id: undefined,
    }),
    options,
  );
  assert.is(notice.version, `a b ${'x'.repeat(195)}…`);
  assert.is(notice.instance, 'default');
  assert.is(notice.deployId, 'abababab');
  assert.is((await noticeOf(failure({ version: '\u0007' }), options)).version, 'unknown');
});

test('a deploy_id that is longer is cut to 8 characters', async () => {
  const notice = await noticeOf(failure({ deploy_id: '123456789012' }), options);
  assert.is(notice.deployId, '12345678');
});

const DURATIONS: readonly (readonly [unknown, string])[] = [
  [0, '0.0 s'],
  [840, '0.8 s'],
  [9_949, '9.9 s'],
  [9_999, '10 s'],
  [12_345, '12 s'],
  [59_999, '1 m 00 s'],
  [65_000, '1 m 05 s'],
  [7_200_000, '2 h 00 m'],
  [-1, ''],
  ['12', ''],
  [undefined, ''],
];

for (const [milliseconds, words] of DURATIONS) {
  test(`a duration of ${milliseconds} ms reads '${words}'`, async () => {
    assert.is((await noticeOf(failure({ duration_ms: milliseconds }), options)).duration, words);
  });
}

test('a rollback that only starts the active version again names it once', async () => {
  const commit = '1'.repeat(40);
  const again = { version: 'v1', from_version: 'v1', commit, from_commit: commit };
  const shown = async (fields: Record<string, unknown>) => {
    const record = { ...failure(fields), kind: 'RollbackSuccess' as const };
    const [first] = announcementsOf(await noticeOf(record, options));
    return [first?.title, ...(first?.rows.map(({ label }) => label) ?? [])];
  };
  assert.equal((await shown(again)).slice(0, 3), ['Started again', 'Project', 'Version']);
  const moved = await shown({ ...again, from_commit: '2'.repeat(40) });
  assert.equal(moved.slice(0, 4), ['Rollback', 'Project', 'From', 'To']);
});

test('a timestamp is taken when it is one', async () => {
  const at = async (timestamp: unknown) =>
    (await noticeOf(failure({ timestamp }), options)).timestamp;
  assert.is(await at('2026-01-02T03:04:05+01:00'), '2026-01-02T02:04:05.000Z');
  assert.is(await at('yesterday'), undefined);
  assert.is(await at('+275760-09-13T00:00:00.000Z'), undefined);
});

test('packages with a new install script are named', async () => {
  const changes = { count: 1, subjects: ['x'], new_install_scripts: ['a@1.0.0', SECRET] };
  const [first] = announcementsOf(await noticeOf(failure({ changes }), options));
  const row = first?.rows.find(({ label }) => label === 'Packages');
  assert.equal(row?.phrase.slice(0, 2), ['new install scripts: ', { value: 'a@1.0.0' }]);
  assert.not.ok(JSON.stringify(row).includes(SECRET));
});

test.run();
