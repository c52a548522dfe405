/** The names that an ecosystem file of pm2 gives to its processes. */
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { makeFolder } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { readYaml } from '@runner/common/yaml/read';
import type { Tree } from '@runner/common/yaml/schema';
import { ask } from './ask.ts';
import type { Target } from './driver.ts';

/**
 * Prints its apps as JSON. The file is code: it is evaluated in a process of its own, with the
 * environment and in the folder in which pm2 evaluates it.
 */
const READ = `
const { basename, extname, resolve } = require('node:path');
const { readFileSync } = require('node:fs');
const file = resolve(process.argv[1]);
const isJson = file.includes('.json');
const read = isJson
  ? Promise.resolve(require('node:vm').runInThisContext('(' + readFileSync(file, 'utf8') + ')'))
  : import(require('node:url').pathToFileURL(file)).then((all) => all.default ?? all);
read.then((all) => {
  const apps = [all.apps ?? all].flat();
  const named = apps.map((app) => ({
    ...app,
    name: app.name ?? basename(app.script, extname(app.script)),
    cwd: resolve(app.cwd ?? '.'),
  }));
  process.stdout.write('\\n' + JSON.stringify(named));
});
`;

/** The names; empty if the file cannot be read, which pm2 reports better. */
export function namesOf(target: Target, config: string): string[] {
  const { release, slot } = target;
  try {
    const names = /\.ya?ml/.test(config)
      ? namesInYaml(join(release, config))
      : appsIn(target, config).map(({ name }) => name);
    return slot === undefined ? names : names.map((name) => `${name}-${slot}`);
  } catch {
    return [];
  }
}

/** An app of an ecosystem file. */
type App = { readonly name: string } & Readonly<Record<string, unknown>>;

function appsIn({ env, release: cwd, confine }: Target, config: string): App[] {
  const confinement = confine('hook');
  const { stdout } = ask(process.execPath, ['-e', READ, config], { env, cwd, confinement });
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n'))) as App[];
}

/** The file to start: in a slot a copy, in which the names end with the slot's. */
export function ecosystemFor(target: Target, config: string): string {
  const { slot, paths } = target;
  if (slot === undefined) return config;
  const apps = appsIn(target, config).map((app) => ({ ...app, name: `${app.name}-${slot}` }));
  const copy = join(paths.run, 'ecosystem.json');
  makeFolder(paths.run);
  writeWhole(copy, JSON.stringify({ apps }));
  return copy;
}

function namesInYaml(path: string): string[] {
  const tree = readYaml(readFileSync(path), { name: path, code: 'deploy_file_invalid' });
  const value = (of: Tree, key: string) =>
    of.kind === 'map' ? of.entries.find((entry) => entry.key === key)?.value : undefined;
  const text = (of: Tree, key: string) => {
    const found = value(of, key);
    return found?.kind === 'scalar' ? found.source : '';
  };
  const apps = value(tree, 'apps');
  const all = apps?.kind === 'list' ? apps.items : [tree];
  return all.map(
    (app) => text(app, 'name') || basename(text(app, 'script'), extname(text(app, 'script'))),
  );
}
