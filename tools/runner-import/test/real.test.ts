/** Crontabs and schedule.rb files in the forms that people publish: no line is lost, no time is another. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { REAL } from './real.ts';
import { answerTo } from './real-answers.ts';

test('there are more than 50 files, and no two are equal', () => {
  assert.ok(REAL.length > 50, String(REAL.length));
  assert.is(new Set(REAL.map(({ text }) => text)).size, REAL.length);
});

test('what becomes no job is named', async () => {
  const shown = async (format: 'crontab' | 'whenever', text: string) => {
    const { left, notes, deploy_file: file } = await answerTo({ format, file: 'x', text });
    const runs = [...(file ?? '').matchAll(/ run: (.*?) #/g)].map(([, run]) => run);
    return [
      left.map(({ key, line }) => `${line} ${key}`),
      runs,
      notes.filter((each) => /&|output/.test(each)),
    ];
  };
  const schedule =
    'set :output, "x.log"\nset :environment, "staging"\njob_type :own, "x :task"\nevery 1.day do\n  command "a"\nend\n';
  assert.equal(await shown('whenever', schedule), [
    ['1 set.output', '2 set.environment', '3 job_type.own'],
    ['a'],
    [],
  ]);
  const kept = '0 1 * * * a >> log/`date +\\%F`.log 2>&1\n0 2 * * * b > b.csv 2>&1\n';
  assert.equal(await shown('crontab', kept), [
    [],
    ['a >> log/`date +%F`.log 2>&1', 'b > b.csv 2>&1'],
    [],
  ]);
  assert.equal(await shown('crontab', '0 1 * * * c&\n0 2 * * * d >/dev/null 2>&1\n'), [
    [],
    ['c', 'd'],
    [
      'a & at the end is left out: runner waits for the end of a run',
      'output is kept: redirections to logs and /dev/null are left out',
    ],
  ]);
});

test('half of the lines and more become jobs', async () => {
  const answers = await Promise.all(REAL.map((source) => answerTo(source)));
  const mapped = answers.flatMap((each) => each.mapped).length;
  const left = answers.flatMap((each) => each.left).length;
  assert.ok(mapped > left * 1.5, `${mapped} and ${left}`);
});

test.run();
