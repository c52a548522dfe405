/** Help, manual pages and docs/commands.md say the same: they are made from the same definitions. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { flat, helpOf, man, plain, rowsOf, tools } from './reference.ts';

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
