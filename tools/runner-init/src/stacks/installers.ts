/** Package managers: how each is recognised, and what it is called with. */
import type { Checkout } from '../look/checkout.ts';
import { packageOf } from './dependencies.ts';
import type { Language } from './stack.ts';

/** A package manager. */
interface Installer {
  readonly name: string;
  /** The file that shows it. */
  readonly file: string;
  /** What else must be in that file. */
  readonly text?: RegExp;
  readonly install: readonly string[];
  /** Runs a script of package.json. */
  readonly run?: string;
}

const VENV = ['python3 -m venv .venv'];
const PIP = '.venv/bin/python -m pip install';

/** By language, in the order in which they are tried. */
const INSTALLERS: Readonly<Partial<Record<Language, readonly Installer[]>>> = {
  node: [
    {
      name: 'pnpm',
      file: 'pnpm-lock.yaml',
      install: ['pnpm install --frozen-lockfile'],
      run: 'pnpm run',
    },
    {
      name: 'Yarn',
      file: 'yarn.lock',
      text: /^__metadata:/m,
      install: ['yarn install --immutable'],
      run: 'yarn run',
    },
    {
      name: 'Yarn 1',
      file: 'yarn.lock',
      install: ['yarn install --frozen-lockfile'],
      run: 'yarn run',
    },
    { name: 'Bun', file: 'bun.lock', install: ['bun install --frozen-lockfile'], run: 'bun run' },
    { name: 'Bun', file: 'bun.lockb', install: ['bun install --frozen-lockfile'], run: 'bun run' },
    { name: 'npm', file: 'package-lock.json', install: ['npm ci'], run: 'npm run' },
    { name: 'npm', file: 'npm-shrinkwrap.json', install: ['npm ci'], run: 'npm run' },
    {
      name: 'pnpm',
      file: 'package.json',
      text: /"packageManager"\s{0,3}:\s{0,3}"pnpm@/,
      install: ['pnpm install'],
      run: 'pnpm run',
    },
    {
      name: 'Yarn',
      file: 'package.json',
      text: /"packageManager"\s{0,3}:\s{0,3}"yarn@/,
      install: ['yarn install'],
      run: 'yarn run',
    },
    { name: 'npm', file: 'package.json', install: ['npm install'], run: 'npm run' },
  ],
  python: [
    { name: 'uv', file: 'uv.lock', install: ['uv sync --frozen --no-dev --no-editable'] },
    {
      name: 'Poetry',
      file: 'poetry.lock',
      install: [
        'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --only main --no-root --no-interaction',
      ],
    },
    { name: 'Pipenv', file: 'Pipfile.lock', install: ['PIPENV_VENV_IN_PROJECT=1 pipenv sync'] },
    { name: 'PDM', file: 'pdm.lock', install: ['pdm sync --prod --no-editable'] },
    { name: 'pip', file: 'requirements.txt', install: [...VENV, `${PIP} -r requirements.txt`] },
    { name: 'pip', file: 'pyproject.toml', install: [...VENV, `${PIP} .`] },
  ],
  ruby: [{ name: 'Bundler', file: 'Gemfile', install: ['bundle install'] }],
  php: [
    {
      name: 'Composer',
      file: 'composer.json',
      install: ['composer install --no-dev --optimize-autoloader --no-interaction'],
    },
  ],
};

/** What is installed in a checkout, by what, and the variables of commands; `top` is where the lockfile of a workspace is. */
export function installerFor(language: Language, checkout: Checkout, top = checkout) {
  const all = INSTALLERS[language] ?? [];
  const fits = (where: Checkout) =>
    all.find(({ file, text }) => where.has(file) && (!text || text.test(where.text(file))));
  const found = fits(top) ?? fits(checkout);
  const python = found ? '.venv/bin/python' : 'python3';
  return {
    /** The package manager; undefined if the language has none, or nothing is to be installed. */
    name: found?.name,
    file: found?.file,
    install: found?.install ?? [],
    vars: {
      run: found?.run ?? 'npm run',
      python,
      maven: checkout.has('mvnw') ? './mvnw' : 'mvn',
      gradle: checkout.has('gradlew') ? './gradlew' : 'gradle',
      ...scriptVars(checkout, found?.run ?? 'npm run'),
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
