/** What the sources of an app give away: routes for a health check, and what it writes beside itself. */
import { UNSAFE } from '@runner/common/text/harmless';
import type { Checkout } from './checkout.ts';

const SOURCE = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|exs?|php)$/;
/** Files that are read. */
const FILES = 80;

/** Where something was found. */
export interface FoundIn {
  readonly value: string;
  readonly file: string;
}

const WORDS = 'health|healthz|healthcheck|up|ping|status|livez|readyz';
const ROUTE = new RegExp(`["'\`](/(?:api/|_)?(?:${WORDS}))["'\`]`);
/** Frameworks whose routes are files. */
const ROUTE_FILE = new RegExp(
  `(?:^|/)(?:app|pages|routes|server)/((?:api/)?(?:${WORDS}))(?:/(?:route|\\+server)|\\.get)?\\.[jt]sx?$`,
);

/** Paths that look like health checks. */
export function healthRoutes(checkout: Checkout): FoundIn[] {
  const byName = checkout.files.flatMap((file) => {
    const value = ROUTE_FILE.exec(file)?.[1];
    return value === undefined ? [] : [{ value: `/${value}`, file }];
  });
  return [...byName, ...inSources(checkout, ROUTE)];
}

const DATABASE =
  /["'`](?:file:|sqlite:\/{2,3})?(?:\.\/)?((?:[\w-]{1,40}\/)?[\w-]{1,40}\.(?:sqlite3?|db))["'`]/;
const UPLOADS = /["'`](?:\.\/)?((?:[\w-]{1,40}\/)?uploads)\/?["'`]/;

/** Databases and folders of uploads; a database in a folder stands for that. */
export function writtenPaths(checkout: Checkout): FoundIn[] {
  const databases = inSources(checkout, DATABASE).map(({ value, file }) => ({
    value: value.includes('/') ? `${value.split('/')[0]}/` : value,
    file,
  }));
  const uploads = inSources(checkout, UPLOADS).map(({ value, file }) => ({
    value: `${value}/`,
    file,
  }));
  return [...databases, ...uploads];
}

function inSources(checkout: Checkout, pattern: RegExp): FoundIn[] {
  const isTest = (file: string) => /(?:^|[/._-])(?:tests?|spec|__tests__)(?:[/._-]|$)/.test(file);
  const sources = checkout.files.filter((file) => SOURCE.test(file) && !isTest(file));
  return sources.slice(0, FILES).flatMap((file) => {
    const value = pattern.exec(checkout.text(file))?.[1];
    return value === undefined ? [] : [{ value, file }];
  });
}

/** `process.env.PORT || 8080`, `getenv("PORT", 8000)`, `{ PORT = 3000 }`, and what follows on a Getenv. */
const OWN_PORT =
  /\bPORT["'`]?[)\]]{0,3}(?:, ?10\))?\s{0,3}(?:\|\||\?\?|,|=|\bor\b)\s{0,3}["'`]?(\d{4,5})\b|["']PORT["']\)[\s\S]{0,120}?["']:?(\d{4,5})["']/;
const ENTRY =
  /^(?:(?:src|app|bin|server|cmd\/[\w-]{1,60})\/)?(?:server|app|index|main|www|run|wsgi|api|application|config)(?:\.\w{1,4})?$/;

const JS = /\.[cm]?[jt]sx?$/;

/** The port that an app takes if it is given none, by its entry: what the command names, or is usual. */
export function ownPort(checkout: Checkout, command: string): FoundIn | undefined {
  const named = command.split(/[\s'"]+/).map((each) => each.replace(/^\.\//, ''));
  const stems = named.map((each) => each.replace(/^(?:dist|build)\//, 'src/').replace(JS, ''));
  const isNamed = (file: string) =>
    named.includes(file) || (/\.[cm]?tsx?$/.test(file) && stems.includes(file.replace(JS, '')));
  const { files } = checkout;
  const entries = [...files.filter(isNamed), ...files.filter((file) => ENTRY.test(file))];
  for (const file of entries.slice(0, FILES)) {
    const [, given, later] = OWN_PORT.exec(checkout.text(file)) ?? [];
    const value = given ?? later ?? '';
    if (Number(value) >= 1024 && Number(value) <= 65_535) return { value, file };
  }
  return undefined;
}

/** Longest command of a Procfile. */
const COMMAND_MAX = 500;

/** The command of a process in the Procfile. */
export function processIn(checkout: Checkout, name: string): string | undefined {
  const line = checkout
    .text('Procfile')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  const command = line?.slice(name.length + 1).trim();
  if (!command || command.length > COMMAND_MAX || command.search(UNSAFE) !== -1) return undefined;
  return command;
}

/** The processes of the Procfile that have a command, in its order. */
export function processNames(checkout: Checkout): string[] {
  const names = checkout.text('Procfile').matchAll(/^([A-Za-z0-9][\w-]{0,62}):/gm);
  return [...new Set([...names].map(([, name = '']) => name))].filter(
    (name) => processIn(checkout, name) !== undefined,
  );
}
