/** Help, manual pages and docs/commands.md say the same: they are made from the same definitions. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder, distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { flat, helpOf, man, plain, rowsOf, tools } from './reference.ts';

test('every executable has a manual page, and there are those of the three files', () => {
  const expected = ['runner', ...tools].map((name) => `${name}.1`).sort();
  assert.equal(readdirSync(join(man, 'man1')).sort(), expected);
  const files = ['runner-audit-log.5', 'runner-config.5', 'runner-deploy.yml.5'];
  assert.equal(readdirSync(join(man, 'man5')).sort(), files);
});

test('mandoc finds nothing to say about any page', () => {
  if (spawnSync('mandoc', ['-V']).error !== undefined) {
    process.stdout.write('(left out: mandoc is not installed; Debian package mandoc)\n');
    return;
  }
  const pages = ['man1', 'man5'].flatMap((part) =>
    readdirSync(join(man, part)).map((file) => join(man, part, file)),
  );
  const { stdout, stderr, status } = spawnSync('mandoc', ['-T', 'lint', '-W', 'base', ...pages]);
  assert.equal([String(stdout), String(stderr), status], ['', '', 0]);
});

test('the page of the shim lists every executable and every option of the shim', async () => {
  const page = flat(plain(readFileSync(join(man, 'man1/runner.1'), 'utf8')));
  const { stdout } = await run('runner', ['help']);
  const rows = [
    ...rowsOf(stdout, 'Commands'),
    ...rowsOf(stdout, 'Options'),
    ...rowsOf(stdout, "Exit status, when it is not the command's"),
  ];
  assert.ok(rows.length > tools.length);
  for (const [term, meaning] of rows) assert.ok(page.includes(`${flat(term)} ${meaning}`), term);
});

/** Paths of all keys that a JSON Schema names. */
function keysOf(schema: Record<string, unknown>, path = ''): string[] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, typeof schema>);
  const others = schema.additionalProperties;
  const forms = (schema.anyOf ?? []) as (typeof schema)[];
  return [
    ...properties.flatMap(([key, inner]) => {
      const whole = path === '' ? key : `${path}.${key}`;
      return [whole, ...keysOf(inner, whole)];
    }),
    ...(typeof others === 'object' && others !== null
      ? keysOf(others as typeof schema, `${path}.<NAME>`)
      : []),
    ...forms.flatMap((form) => keysOf(form, path)),
  ];
}

test('the pages of config.yml and .deploy.yml describe every key of their JSON Schemas', () => {
  for (const [page, schema] of [
    ['runner-config', 'config'],
    ['runner-deploy.yml', 'deploy'],
  ]) {
    const text = plain(readFileSync(join(man, `man5/${page}.5`), 'utf8'));
    const file = join(distFolder(), `share/runner/schemas/${schema}.schema.json`);
    const keys = keysOf(JSON.parse(readFileSync(file, 'utf8')));
    assert.ok(keys.length > 15);
    for (const key of keys)
      assert.ok(
        new RegExp(`^${key.replace(/[.]/g, '\\.')} \\([^)]+\\)\\n\\w`, 'm').test(text),
        key,
      );
  }
});

test('the page of the audit log describes every field that emit writes', async () => {
  const page = plain(readFileSync(join(man, 'man5/runner-audit-log.5'), 'utf8'));
  const help = await helpOf('runner-audit', 'emit');
  const options = rowsOf(help, 'Options')
    .map(([term]) => /^--([a-z-]+) <[A-Z]+>$/.exec(term)?.[1] ?? '')
    .filter((name) => name !== '' && !['root', 'color', 'timestamp', 'deploy-id'].includes(name));
  const values = options.flatMap((name) => [
    `--${name}`,
    name === 'duration-ms' ? '5' : name === 'error' ? 'x'.repeat(70_000) : 'x',
  ]);
  const root = temporaryFolder('emit');
  const args = ['emit', 'DeployFailure', ...values];
  const { stdout, stderr } = await run('runner-audit', args, { root });
  assert.is(stderr, '');
  const fields = Object.keys(JSON.parse(stdout));
  assert.ok(fields.length >= options.length);
  for (const field of fields) assert.match(page, new RegExp(`^${field}\\n\\w`, 'm'), field);
});

test('the page of the audit log and docs/audit-log.md describe the same fields', () => {
  const page = plain(readFileSync(join(man, 'man5/runner-audit-log.5'), 'utf8'));
  const inPage = [...page.matchAll(/^([a-z_]+)\n\w/gm)].map(([, field]) => field);
  const document = readFileSync(join(checkoutFolder(), 'docs/audit-log.md'), 'utf8');
  const table = document.split('## Fields')[1]?.split('\n## ')[0] ?? '';
  const cells = [...table.matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell ?? '');
  const inDocument = cells.flatMap((cell) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, field]) => field),
  );
  assert.equal(inPage, inDocument);
});

test('docs/commands.md is what the definitions say: npm run docs', () => {
  const made = readFileSync(join(distFolder(), 'share/doc/runner/commands.md'), 'utf8');
  const same = readFileSync(join(checkoutFolder(), 'docs/commands.md'), 'utf8') === made;
  assert.ok(same, 'docs/commands.md is out of date: npm run docs, and commit it');
});

test.run();
