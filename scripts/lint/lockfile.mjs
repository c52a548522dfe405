// What is installed is what was reviewed: every package of pnpm-lock.yaml is a version from the
// registry, pinned by its sha512; nothing is overridden or patched.
//
//   node scripts/lint/lockfile.mjs [folder of a checkout]
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { checkout } from '../tasks/checkout.mjs';

const { parse } = createRequire(join(checkout, 'libs/common/package.json'))('yaml');
const root = process.argv[2] ?? checkout;
const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'];
const FORBIDDEN = ['overrides', 'patchedDependencies', 'packageExtensions', 'resolutions', 'pnpm'];

// JSON is YAML.
const [lock, ...others] = files.map((file) => parse(readFileSync(join(root, file), 'utf8')));
const packages = Object.entries(lock?.packages ?? {});

function isPinned([key, { resolution }]) {
  const { integrity = '', ...more } = resolution;
  const sha512 = /^sha512-[\w+/]{86}==$/.test(integrity);
  return /@\d[\w.+-]*$/.test(key) && sha512 && Object.keys(more).length === 0;
}

const problems = packages
  .filter((each) => !isPinned(each))
  .map(([key]) => `pnpm-lock.yaml: ${key} is not pinned by its sha512 alone`);
for (const [index, settings] of [lock, ...others].entries()) {
  const found = FORBIDDEN.filter((name) => settings?.[name] !== undefined);
  problems.push(...found.map((name) => `${files[index]}: ${name} is not allowed`));
}
if (packages.length === 0) problems.push('pnpm-lock.yaml: holds no packages');
for (const problem of problems) console.log(problem);
console.log(`lockfile: ${packages.length} packages, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
