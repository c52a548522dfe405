/** Help, manual pages and docs/commands.md say the same: they are made from the same definitions. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder, distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const man = join(distFolder(), 'share/man');

const tools = readdirSync(join(distFolder(), 'bin')).filter((name) => name.startsWith('runner-'));

/** A page as plain text, without what roff makes of it: requests, fonts and escapes. */
function plain(page: string): string {
  const special: Record<string, string> = { aq: "'", dq: '"', ga: '`', ha: '^', ti: '~' };
  return page
    .replace(/\\c\n/g, '')
    .replace(/^\.(?:SH|SS) "?(.*?)"?$/gm, '\n## $1\n')
    .replace(/^\.TP$/gm, '\n')
    .replace(/^\.[a-zA-Z].*$/gm, '\n')
    .replace(/\\f[BIP]|\\&/g, '')
    .replace(/\\\((..)/g, (_, name: string) => special[name] ?? '?')
    .replace(/\\\[u([0-9A-F]+)\]/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16)),
    )
    .replace(/\\-/g, '-')
    .replace(/\\e/g, '\\');
}

const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Rows `term  meaning` of a section of a help; lines that go on are joined. */
function rowsOf(help: string, title: string): [term: string, meaning: string][] {
  const section = new RegExp(`\\n${title}:\\n((?: {2,}.*\\n)+)`).exec(help)?.[1] ?? '';
  // Choices go on below themselves without a space; an option without a letter stands at column 7.
  const rows = section
    .replace(/(?<=\|)\n +/g, '')
    .replace(/\n(?: {12,}(?=\S)| {5,11}(?=[^\s-]))/g, '  ')
    .trimEnd();
  if (rows === '') return [];
  return rows.split('\n').map((row) => {
    const [term = '', ...meaning] = row.trim().split(/ {2,}/);
    return [term, meaning.join(' ')];
  });
}

async function helpOf(tool: string, ...words: string[]): Promise<string> {
  const { stdout, status } = await run(tool, [...words, '--help']);
  assert.is(status, 0, tool);
  return stdout;
}

/** Help of every command of a tool, with its title as the manual page has it; none for one command. */
async function helpsOf(tool: string): Promise<{ title: string | null; help: string }[]> {
  const help = await helpOf(tool);
  const commands = rowsOf(help, 'Commands').map(([name]) => name);
  if (commands.length === 0) return [{ title: null, help }];
  return Promise.all(
    commands.map(async (name) => ({
      title: `${tool.replace('-', ' ')} ${name}`,
      help: await helpOf(tool, name),
    })),
  );
}

const COMMON = ['--json', '-o, --output <FORMAT>', '--root <DIR>', '--color <WHEN>', '-h, --help'];

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

test('a manual page has the sentences, arguments, options, statuses and examples of the help, and no other option', async () => {
  for (const tool of tools) {
    const page = plain(readFileSync(join(man, 'man1', `${tool}.1`), 'utf8'));
    for (const { title, help } of await helpsOf(tool)) {
      const part =
        title === null ? page : (page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '');
      const text = flat(part);
      const options = rowsOf(help, 'Options').filter(
        ([term]) => title === null || !COMMON.includes(term),
      );
      const rows = [...rowsOf(help, 'Arguments'), ...options, ...rowsOf(help, 'Exit status')];
      for (const [term, meaning] of rows)
        assert.ok(
          text.includes(`${term} ${flat(meaning)}`),
          `${tool} ${title}: ${term} ${meaning}`,
        );
      const named = [...part.matchAll(/^(?:-\w, )?(--[a-z-]+)(?: <[^>]*>)?$/gm)].map(
        ([line]) => line,
      );
      assert.equal(
        named.filter((term) => term !== '--version').sort(),
        options.map(([term]) => term).sort(),
        `${tool} ${title}`,
      );
      const [about = '', details = ''] = help.split('\n\n');
      assert.ok(text.includes(`${flat(about)}.`), `${tool} ${title}: ${about}`);
      if (!details.startsWith('Usage:'))
        assert.ok(text.includes(flat(details)), `${tool}: ${details}`);
      const examples = /\nExamples:\n((?: {2}.*\n?)+)/.exec(help)?.[1] ?? '';
      for (const line of examples.split('\n').map(flat)) assert.ok(text.includes(line), line);
    }
  }
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

/** Markdown that users read. */
function documents(): string[] {
  const folder = checkoutFolder();
  const readmes = tools.map((tool) => `tools/${tool}/README.md`);
  const docs = readdirSync(join(folder, 'docs')).map((file) => `docs/${file}`);
  return ['README.md', ...docs, ...readmes].filter(
    (file) => file.endsWith('.md') && existsSync(join(folder, file)),
  );
}

test('every option of a command in the documents exists', async () => {
  const known = new Map<string, readonly string[]>();
  for (const tool of tools) {
    for (const { title, help } of await helpsOf(tool)) {
      const options = [...help.matchAll(/(?:^| )(--?[a-zA-Z][a-z-]*)/gm)].map(
        ([, option]) => option ?? '',
      );
      known.set(title ?? tool.replace('-', ' '), options);
    }
  }
  let seen = 0;
  for (const file of documents()) {
    const text = readFileSync(join(checkoutFolder(), file), 'utf8');
    const typed = text.matchAll(/(?:^|[`$(|&;] ?)(runner[ -][a-z-]+)((?:[ \t]+[^|;&`\n#)]+)?)/gm);
    for (const [, command = '', rest = ''] of typed) {
      const tool = command.replace('-', ' ');
      const options = known.get(`${tool} ${rest.trim().split(/\s+/)[0]}`) ?? known.get(tool);
      if (options === undefined) continue;
      for (const [, option = ''] of rest.matchAll(/ (--[a-z][a-z-]*)/g)) {
        seen += 1;
        assert.ok(
          [...options, '--help', '--version'].includes(option),
          `${file}: ${command}${rest}: ${option}`,
        );
      }
    }
  }
  assert.ok(seen > 30, String(seen));
});

test.run();
