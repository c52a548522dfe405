/** What the commands of a proposal run in turn: scripts of package.json, and of the shell. */
import type { Checkout } from '../look/checkout.ts';
import { packageOf } from './dependencies.ts';

export interface WrittenCommand {
  readonly where: string;
  readonly text: string;
}

/** Of a script of the shell that is named, in characters. */
const SCRIPT_MAX = 20_000;
const CALL =
  /\b(?:(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)? +(?:-s +|--silent +)?|npm-run-all +|run-s +)([\w:.-]{1,60})/g;
const INSTALLS = /\b(?:npm (?:ci|install|i)|(?:pnpm|yarn|bun) install)\b/;
const OF_INSTALL = ['preinstall', 'install', 'postinstall', 'prepare'];

/** A command and all that it runs, each once. */
export function commandsRun(checkout: Checkout, first: WrittenCommand): WrittenCommand[] {
  const { scripts } = packageOf(checkout);
  const found = new Map<string, WrittenCommand>([[first.where, first]]);
  const add = (where: string, text: string | undefined) => {
    if (text !== undefined && !found.has(where)) found.set(where, { where, text });
  };
  // What is added while a map is walked through is walked through too.
  for (const { text } of found.values()) {
    const called = [...text.matchAll(CALL)].flatMap(([, name = '']) => [`pre${name}`, name]);
    for (const name of [...called, ...(INSTALLS.test(text) ? OF_INSTALL : [])])
      add(`scripts.${name} of package.json`, scripts[name]);
    for (const word of text.slice(0, SCRIPT_MAX).split(/[\s'"]+/)) {
      const path = word.replace(/^\.\//, '');
      if (isShell(checkout, path)) add(path, checkout.text(path).slice(0, SCRIPT_MAX));
    }
  }
  return [...found.values()];
}

function isShell(checkout: Checkout, path: string): boolean {
  if (!checkout.has(path)) return false;
  return path.endsWith('.sh') || /^#!.{0,40}sh\b/.test(checkout.text(path).slice(0, 60));
}

const MIGRATES =
  /\bmigrate\b(?![: ]+(?:status|diff|create|make|new|help)\b)|\bmigrations?:(?:run|up|migrate)\b|\brun[-_: ]migrations?\b|\bdb:(?:prepare|push|setup|deploy)\b|\bdb (?:push|upgrade)\b|\balembic [\w ./=-]{0,60}upgrade\b|\becto\.setup\b|\b(?:goose|dbmate) [\w ./=-]{0,60}up\b|\bdrizzle-kit push\b|\bliquibase update\b/;

/** The first command that migrates a database. */
export function migrationIn(commands: readonly WrittenCommand[]): WrittenCommand | undefined {
  for (const { where, text } of [...commands].reverse()) {
    const parts = text.split(/&&|\|\||[;\n]/).map((each) => each.trim());
    const part = parts.find((each) => !each.startsWith('#') && MIGRATES.test(each));
    if (part !== undefined) return { where, text: part.slice(0, 120) };
  }
  return undefined;
}
