/** Package managers: how each is recognised, and what it is called with. */
import type { Checkout } from '../look/checkout.ts';
import { packageOf } from './dependencies.ts';
import type { Language } from './stack.ts';

/** A package manager, the file that shows it, what it installs with, and what else must be in the file. */
type Installer = readonly [name: string, file: string, install: string | string[], text?: RegExp];

const VENV = 'python3 -m venv .venv';
const PIP = '.venv/bin/python -m pip install';

/** By language, in the order in which they are tried. */
const INSTALLERS: Readonly<Partial<Record<Language, readonly Installer[]>>> = {
  node: [
    ['pnpm', 'pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
    ['Yarn', 'yarn.lock', 'yarn install --immutable', /^__metadata:/m],
    ['Yarn 1', 'yarn.lock', 'yarn install --frozen-lockfile'],
    ['Bun', 'bun.lock', 'bun install --frozen-lockfile'],
    ['Bun', 'bun.lockb', 'bun install --frozen-lockfile'],
    ['npm', 'package-lock.json', 'npm ci'],
    ['npm', 'npm-shrinkwrap.json', 'npm ci'],
    ['pnpm', 'package.json', 'pnpm install', /"packageManager"\s{0,3}:\s{0,3}"pnpm@/],
    ['Yarn', 'package.json', 'yarn install', /"packageManager"\s{0,3}:\s{0,3}"yarn@/],
    ['npm', 'package.json', 'npm install'],
  ],
  python: [
    ['uv', 'uv.lock', 'uv sync --frozen --no-dev --no-editable'],
    [
      'Poetry',
      'poetry.lock',
      'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --only main --no-root --no-interaction',
    ],
    ['Pipenv', 'Pipfile.lock', 'PIPENV_VENV_IN_PROJECT=1 pipenv sync'],
    ['PDM', 'pdm.lock', 'pdm sync --prod --no-editable'],
    ['pip', 'requirements.txt', [VENV, `${PIP} -r requirements.txt`]],
    ['pip', 'pyproject.toml', [VENV, `${PIP} .`]],
  ],
  ruby: [['Bundler', 'Gemfile', 'bundle install']],
  php: [
    [
      'Composer',
      'composer.json',
      'composer install --no-dev --optimize-autoloader --no-interaction',
    ],
  ],
};

/** What is installed in a checkout, by what, and the variables of commands; `top` is where the lockfile of a workspace is. */
export function installerFor(language: Language, checkout: Checkout, top = checkout) {
  const all = INSTALLERS[language] ?? [];
  const fits = (where: Checkout) =>
    all.find(([, file, , text]) => where.has(file) && (!text || text.test(where.text(file))));
  const found = fits(top) ?? fits(checkout);
  const [name, file, given = []] = found ?? [];
  const install: readonly string[] = [given].flat();
  const python = found ? '.venv/bin/python' : 'python3';
  // Runs a script of package.json.
  const run = language === 'node' && found ? `${install[0]?.split(' ')[0]} run` : 'npm run';
  return {
    /** The package manager; undefined if the language has none, or nothing is to be installed. */
    name,
    file,
    install,
    vars: {
      run,
      python,
      maven: checkout.has('mvnw') ? './mvnw' : 'mvn',
      gradle: checkout.has('gradlew') ? './gradlew' : 'gradle',
      ...scriptVars(checkout, run),
    } as Readonly<Record<string, string>>,
  };
}

/** `node server.js` without flags of a shell: without a prestart, no package manager is between. */
const DIRECT = /^node (?:--[\w-]{1,40}(?:=[\w./-]{1,60})? ){0,5}[\w./-]{1,100}$/;

/** How each script of package.json is run. */
function scriptVars(checkout: Checkout, run: string): Record<string, string> {
  const { scripts } = packageOf(checkout);
  return Object.fromEntries(
    Object.entries(scripts).flatMap(([name, text]) =>
      /^[\w:-]{1,40}$/.test(name)
        ? [
            [
              `script:${name}`,
              DIRECT.test(text) && !scripts[`pre${name}`] ? text : `${run} ${name}`,
            ],
          ]
        : [],
    ),
  );
}
