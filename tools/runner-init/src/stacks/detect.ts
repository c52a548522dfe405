/** Which stack a checkout has, by the table. */
import type { Checkout } from '../look/checkout.ts';
import { COMPILED } from './compiled.ts';
import { dependsOn, packageOf } from './dependencies.ts';
import { WITHOUT_LANGUAGE } from './files.ts';
import { installerFor } from './installers.ts';
import { MIGRATORS } from './migrators.ts';
import { NODE } from './node.ts';
import { PAGES } from './pages.ts';
import { PYTHON } from './python.ts';
import type { Clue, CommandLine, Language, Stack } from './stack.ts';

const SCRIPTING = [...PAGES, ...PYTHON];

/** Laravel and Rails have a package.json for their pages, so they come before Node. */
const TABLE: readonly Stack[] = [...SCRIPTING.filter(isServerOfPages), ...COMPILED, ...NODE].concat(
  SCRIPTING.filter((each) => !isServerOfPages(each)),
  WITHOUT_LANGUAGE,
);

function isServerOfPages({ language, missing }: Stack): boolean {
  return missing === undefined && language !== 'none';
}

/** The stack of a checkout; undefined if nothing in the table fits. `top`: the workspace around it. */
export function detect(checkout: Checkout, top = checkout): Detected | undefined {
  for (const stack of TABLE) {
    const vars = holding(checkout, stack.language, stack.when);
    if (vars) return detectedAs(checkout, top, stack, vars);
  }
  return undefined;
}

type ClueVariables = Readonly<Record<string, string>>;

/** A stack that was recognised, with the commands for this checkout; `own`: what the clues found. */
export function detectedAs(checkout: Checkout, top: Checkout, stack: Stack, own: ClueVariables) {
  const installed = installerFor(stack.language, checkout, top);
  const known: ClueVariables = { ...installed.vars, ...own };
  const unset: string[] = [];
  const filled = (text: string, found: ClueVariables = {}) =>
    text.replace(/\{([\w:]+\.?)\}/g, (_, name: string) => {
      const vars = { ...known, ...found };
      const value = name.endsWith('.') ? vars[name.slice(0, -1)]?.replaceAll('/', '.') : vars[name];
      if (value === undefined) unset.push(name);
      return value ?? '';
    });
  const holds = (clues: readonly Clue[]) => holding(checkout, stack.language, clues) !== undefined;
  const lines = (all: readonly CommandLine[] = []) =>
    all.flatMap((line) => {
      if (typeof line === 'string')
        return line === '{install}' ? installed.install : [filled(line)];
      const found = holding(checkout, stack.language, line.when);
      if (!found) return [];
      return line.run === '{install}' ? installed.install : [filled(line.run, found)];
    });
  const start = stack.start && filled(stack.start);
  return {
    stack,
    installed,
    build: lines(stack.build),
    start,
    output: stack.output && filled(stack.output),
    compose: stack.compose && filled(stack.compose),
    health: lines(stack.health === undefined ? [] : [stack.health])[0],
    migrate: lines(stack.migrate === undefined ? MIGRATORS : [stack.migrate])[0],
    notes: lines(stack.notes),
    /** What keeps it from being deployed, a sentence. */
    missing: stack.missing ?? unsetWords(unset) ?? missingScript(checkout, stack),
    holds,
  };
}

export type Detected = ReturnType<typeof detectedAs>;

function unsetWords([first]: readonly string[]): string | undefined {
  const script = first?.startsWith('script:') ? first.slice('script:'.length) : undefined;
  return script && `package.json has no script ${script}`;
}

/** The build of most stacks on Node is a script. */
function missingScript(checkout: Checkout, { build = [] }: Stack): string | undefined {
  if (!build.includes('{run} build')) return undefined;
  return packageOf(checkout).scripts.build === undefined
    ? 'package.json has no script build'
    : undefined;
}

/** The variables that the clues found if all of them hold. */
function holding(
  checkout: Checkout,
  language: Language,
  clues: readonly Clue[],
): ClueVariables | undefined {
  let all: ClueVariables = {};
  for (const clue of clues) {
    const found = variablesOf(checkout, language, clue);
    if ((found !== undefined) === (clue.not === true)) return undefined;
    all = { ...all, ...found };
  }
  return all;
}

/** undefined if the clue does not fit. */
function variablesOf(
  checkout: Checkout,
  language: Language,
  { path, text, dep, script }: Clue,
): ClueVariables | undefined {
  if (dep !== undefined) return dependsOn(checkout, language, dep) ? {} : undefined;
  if (script !== undefined) {
    const found = packageOf(checkout).scripts[script];
    return found === undefined ? undefined : groupsOf(text, found.slice(0, 1_000));
  }
  const files =
    typeof path === 'string'
      ? [path].filter(checkout.has)
      : checkout.files.filter((file) => path?.test(file));
  for (const file of files) {
    const inText = groupsOf(text, text ? checkout.text(file) : '');
    if (inText) return { ...(path instanceof RegExp && groupsOf(path, file)), ...inText };
  }
  return undefined;
}

function groupsOf(pattern: RegExp | undefined, text: string): ClueVariables | undefined {
  if (!pattern) return {};
  const match = pattern.exec(text);
  return match ? { ...match.groups } : undefined;
}
