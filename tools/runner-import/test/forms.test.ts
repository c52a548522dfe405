/** 200 files in the forms that real ones have: every key goes where it must, and none is dropped. */
import { readDeployFile } from '@runner/common/deploy-file/read';
import { UNSAFE } from '@runner/common/text/harmless';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ImportAnswer, importText } from '../src/answer/answer.ts';
import type { FormatName } from '../src/formats/all.ts';
import { CAPISTRANO } from './forms/capistrano.ts';
import { COMPOSE } from './forms/compose.ts';
import { type Form, SECRET } from './forms/form.ts';
import { KAMAL } from './forms/kamal.ts';
import { CRONTABS, PROCFILE, UNITS } from './forms/lines.ts';
import { PM2 } from './forms/pm2.ts';

const FORMS = [...PM2, ...PROCFILE, ...KAMAL, ...CAPISTRANO, ...COMPOSE, ...UNITS, ...CRONTABS];
const APPS: Partial<Record<FormatName, string>> = { crontab: 'app' };

const answers = new Map<Form, Promise<ImportAnswer>>();

function answerTo(form: Form): Promise<ImportAnswer> {
  const { format, file, text } = form;
  const source = { format, file, text, app: APPS[format] ?? 'shop', root: '/opt/runner' };
  const answer = answers.get(form) ?? importText(source);
  answers.set(form, answer);
  return answer;
}

/** `key → where` of all entries; a job of a crontab by its line, as all have one key. */
function fatesOf({ mapped, left }: ImportAnswer, lines: readonly string[]): [string, string][] {
  const all = [
    ...mapped.map(({ key, line, to }) => ({ key, line, to })),
    ...left.map(({ key, line }) => ({ key, line, to: '-' })),
  ];
  return all.map(({ key, line, to }) => [key === 'job' ? `job ${lines[line - 1]}` : key, to]);
}

test('there are 200 files, and no two are equal', () => {
  assert.is(FORMS.length, 200);
  assert.ok(new Set(FORMS.map(({ text, file }) => file + text)).size > 190);
});

for (const format of new Set(FORMS.map((form) => form.format))) {
  test(`every key of ${format} is mapped to the right place, or left`, async () => {
    for (const form of FORMS.filter((each) => each.format === format)) {
      const answer = await answerTo(form);
      const fates = fatesOf(answer, form.text.split('\n'));
      const context = `${form.file}\n${form.text}`;
      assert.equal(fates.map(([key]) => key).sort(), Object.keys(form.truth).sort(), context);
      for (const [key, to] of fates)
        assert.ok(to.startsWith(form.truth[key] ?? '?'), `${key} went to ${to}\n${context}`);
    }
  });
}

test('each key is on the line that is printed with it', async () => {
  for (const form of FORMS) {
    const lines = form.text.split('\n');
    const { mapped, left } = await answerTo(form);
    for (const { key, line } of [...mapped, ...left]) {
      const name = /([\w-]+)(?:\[\d+\])?$/.exec(key)?.[1] ?? '';
      const isNamed = ['code', 'job'].includes(name) || /\[\d+\]$/.test(key);
      assert.ok(lines[line - 1]?.trim(), `${key} at ${line} of ${form.text}`);
      if (!isNamed) assert.ok(lines[line - 1]?.includes(name), `${key} at ${line} of ${form.text}`);
    }
  }
});

test('runner reads every .deploy.yml that is made', async () => {
  for (const form of FORMS) {
    const { deploy_file: text, settings } = await answerTo(form);
    const file = readDeployFile(Buffer.from(text ?? ''));
    if (form.format === 'crontab') assert.ok(file.jobs.length > 0);
    else {
      if (form.format !== 'capistrano') assert.not.equal(file.start.type, 'none', form.text);
      assert.ok(settings.length > 0);
    }
  }
});

test('nine of ten keys are mapped', async () => {
  const all = await Promise.all(FORMS.map(answerTo));
  const count = (lists: readonly (readonly unknown[])[]) => lists.flat().length;
  const [mapped, left] = [
    count(all.map((each) => each.mapped)),
    count(all.map((each) => each.left)),
  ];
  assert.ok(mapped / (mapped + left) >= 0.9, `${mapped} of ${mapped + left}`);
});

test('no secret is in any answer, and nothing that controls a terminal', async () => {
  for (const form of FORMS) {
    const printed = JSON.stringify(await answerTo(form));
    assert.not.ok(printed.includes(SECRET), form.text);
    assert.is(printed.search(UNSAFE), -1);
  }
});

test.run();
