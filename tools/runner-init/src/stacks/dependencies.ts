/** What a repository depends on, by its manifests. */
import { orElse } from '@runner/common/foundation/attempt';
import { isObject } from '@runner/common/text/json';
import type { Checkout } from '../look/checkout.ts';
import type { Language } from './stack.ts';

/** The package.json of a checkout; of one that is missing or wrong, nothing. */
export function packageOf(checkout: Checkout) {
  const value = orElse(() => JSON.parse(checkout.text('package.json')) as unknown, undefined);
  const section = (name: string) => {
    const found = isObject(value) ? (value as Record<string, unknown>)[name] : undefined;
    return isObject(found) ? (found as Record<string, unknown>) : {};
  };
  const { workspaces, name } = (isObject(value) ? value : {}) as Record<string, unknown>;
  const globs = Array.isArray(workspaces) ? workspaces : section('workspaces').packages;
  return {
    scripts: textsIn(section('scripts')),
    packages: [...Object.keys(section('dependencies')), ...Object.keys(section('devDependencies'))],
    /** Globs of the folders of a workspace. */
    workspaces: Array.isArray(globs) ? globs.filter((each) => typeof each === 'string') : [],
    name: typeof name === 'string' && /^[@\w./-]{1,100}$/.test(name) ? name : undefined,
  };
}

function textsIn(section: Record<string, unknown>): Record<string, string> {
  const all = Object.entries(section).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(all) as Record<string, string>;
}

/** The files that name the packages of a language; package.json is read as JSON. */
const MANIFESTS: Readonly<Partial<Record<Language, readonly string[]>>> = {
  python: ['requirements.txt', 'pyproject.toml', 'Pipfile', 'requirements/production.txt'],
  ruby: ['Gemfile'],
  php: ['composer.json'],
  elixir: ['mix.exs'],
};

/** Whether a repository depends on one of some packages, whose names are separated by spaces. */
export function dependsOn(checkout: Checkout, language: Language, names: string): boolean {
  const wanted = names.split(' ');
  if (language === 'node') {
    const { packages } = packageOf(checkout);
    return wanted.some((name) => packages.includes(name));
  }
  const texts = (MANIFESTS[language] ?? []).map((path) => withoutComments(checkout.text(path)));
  return wanted.some((name) => texts.some((text) => mentions(text, name)));
}

const withoutComments = (text: string) => text.replace(/^\s{0,20}#.*$/gm, '');

/** Whether a manifest has a package: its whole name, quoted, at the start of a line, or as an atom. */
function mentions(text: string, name: string): boolean {
  const whole = name.replace(/[.[\]/]/g, '\\$&');
  // An extra is asked for only where the name has it.
  const end = name.endsWith(']') ? '' : '(?:\\[[\\w,-]{0,60}\\])?';
  const pattern = `(?:^[\\t ]{0,8}|["':{])${whole}${end}(?=["'\\s<>=~!;,@]|$)`;
  return new RegExp(pattern, 'im').test(text);
}
