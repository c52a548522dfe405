// The import rule: tools import libraries, libraries never tools, a tool never another tool; inside
// a package a folder imports only folders that stand before it in rooms.mjs; packages are imported
// by their owners; no cycles. Types count like values. Tests, benchmarks and scripts import freely.
//
//   node scripts/lint/imports.mjs [folder of a checkout]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCycles } from './cycles.mjs';
import { libraries, ownersOfPackages, rooms } from './rooms.mjs';

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Sources of the product: every TypeScript file in the src/ folder of a library or a tool. */
function sources() {
  return ['libs', 'tools'].flatMap((kind) => {
    if (!existsSync(join(root, kind))) return [];
    return readdirSync(join(root, kind)).flatMap((name) => {
      const folder = posix.join(kind, name, 'src');
      if (!existsSync(join(root, folder))) return [];
      return readdirSync(join(root, folder), { recursive: true })
        .map((file) => posix.join(folder, file))
        .filter((file) => file.endsWith('.ts'))
        .sort();
    });
  });
}

/** [line, path] of everything that a source imports, statically, lazily or as a type. */
function importsOf(text) {
  const statement = /(?:^[ \t]*import|\bfrom)\s*['"]([^'"\s]+)['"]\s*(?:;|with\b)/gm;
  const expression = /\bimport\(\s*(?:\/\*.*?\*\/\s*)?['"`]([^'"`\s]+)['"`]/g;
  const required = /\b(?:require|createRequire\([^)]*\))\(\s*['"`]([.@][^'"`\s]+)['"`]/g;
  return [statement, expression, required].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => {
      const end = match.index + match[0].length;
      return [text.slice(0, end).split('\n').length, match[1]];
    }),
  );
}

function packageOf(file) {
  return file.split('/').slice(0, 2).join('/');
}

/** [the room's name, its place in the list of its package]; a file directly in src/ is above all. */
function roomOf(file) {
  const list = rooms.get(packageOf(file))?.split(' ');
  const [room, ...rest] = file.split('/').slice(3);
  if (list === undefined) return ['', 0];
  return rest.length === 0 ? ['src', list.length] : [room, list.indexOf(room)];
}

/** What is wrong with a file importing another file of the checkout, or null. */
function judgeOurs(file, target) {
  const [from, to] = [packageOf(file), packageOf(target)];
  if (!existsSync(join(root, target))) return `${target} does not exist`;
  if (!target.startsWith(`${to}/src/`)) return `${target} is not a source of the product`;
  if (from !== to) {
    if (to === 'libs/testing') return 'libs/testing is for tests alone';
    if (to.startsWith('tools/')) {
      const reason = from.startsWith('libs/') ? 'a library never imports a tool' : 'run it instead';
      return `${to} is another tool: ${reason}`;
    }
    const allowed = libraries.get(from);
    if (allowed === undefined || allowed.includes(to)) return null;
    return `${from} does not import ${to}: scripts/lint/rooms.mjs`;
  }
  const [[room, place], [targetRoom, targetPlace]] = [roomOf(file), roomOf(target)];
  if (targetPlace <= place) return null;
  return `${room}/ imports only folders that stand before it, and ${targetRoom}/ stands after it: scripts/lint/rooms.mjs`;
}

/** What is wrong with a file importing a package from outside, or null. */
function judgePackage(file, path) {
  if (path.startsWith('node:')) return null;
  if (builtinModules.includes(path)) return `write node:${path}`;
  const name = path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
  if (/^runner(-|$)/.test(name)) return `${name} is another tool: run it instead`;
  const owners = ownersOfPackages.get(name);
  if (owners === undefined) return `${name} has no owner: name one in scripts/lint/rooms.mjs`;
  return owners.includes(file) ? null : `${name} is imported in ${owners.join(' and ')} alone`;
}

/** The file of the checkout that an import path means, or undefined when it means a package. */
function resolveOurs(file, path) {
  if (path.startsWith('.')) return posix.join(posix.dirname(file), path);
  const [, library, module] = /^@runner\/([^/]+)\/(.+)$/.exec(path) ?? [];
  return library === undefined ? undefined : `libs/${library}/src/${module}.ts`;
}

/** Judges one import; notes it in `graph` when it stays inside the checkout. */
function judge(file, path, graph) {
  const target = resolveOurs(file, path);
  if (target === undefined) return judgePackage(file, path);
  if (path.startsWith('.')) {
    if (packageOf(target) !== packageOf(file) && /^libs\//.test(target)) {
      return `write @runner/${target.slice('libs/'.length).replace('/src/', '/').slice(0, -3)}`;
    }
    if (!/\.(ts|json)$/.test(path)) return `${path} needs its extension .ts`;
  }
  graph.get(file).add(target);
  return judgeOurs(file, target);
}

const files = sources();
const graph = new Map(files.map((file) => [file, new Set()]));
const problems = [];
for (const file of files) {
  if (roomOf(file)[1] < 0) {
    problems.push(`${file}:1: ${roomOf(file)[0]}/ is in no list of rooms: scripts/lint/rooms.mjs`);
  }
  for (const [line, path] of importsOf(readFileSync(join(root, file), 'utf8'))) {
    const sentence = judge(file, path, graph);
    if (sentence !== null) problems.push(`${file}:${line}: ${sentence}`);
  }
}
for (const cycle of findCycles(graph)) {
  problems.push(`${cycle[0]}:1: a cycle of imports: ${[...cycle, cycle[0]].join(' -> ')}`);
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`imports: ${files.length} files, ${problems.length} problems\n`);
if (problems.length > 0) process.exitCode = 1;
