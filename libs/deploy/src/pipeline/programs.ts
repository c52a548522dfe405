/** The programs that the commands of `.deploy.yml` use, if they can be read from them. */
import type { Network } from '@runner/common/config/network';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Env } from '@runner/common/foundation/io';
import { onPath } from '../instances/drivers/availability.ts';
import { ceilingOf } from '../instances/network.ts';
import type { Operation } from '../journal/operation.ts';
import { stepEnvironment } from '../run/environment.ts';
import { isWithin } from '../sandbox/hidden.ts';
import { bubblewrap } from '../sandbox/probe.ts';
import { noLimitWords, settingOf } from '../sandbox/sandbox.ts';

/** A sentence for each program that is not on PATH. */
export function missingPrograms(file: DeployFile, outer: Env): string[] {
  const env = stepEnvironment(outer);
  const found = commandsOf(file).flatMap(([place, command]) =>
    programsIn(command)
      .filter((program) => !onPath(program, env))
      .map((program) => `${place}: ${program} is not on PATH`),
  );
  return [...new Set(found)];
}

/** A program that the sandbox keeps from its service, and what an operator can do. */
interface BlockedProgram {
  readonly words: RegExp;
  readonly service: string;
  readonly instead?: string;
  readonly paths: readonly string[];
}

const named = (names: string) =>
  new RegExp(`(?:^|[\\s;&|(])(?:/usr/bin/|/bin/)?(${names})(?=[\\s;&|)]|$)`);

const KEPT: readonly BlockedProgram[] = [
  {
    words: named('systemctl|systemd-run|loginctl|busctl'),
    service: 'systemd',
    instead: 'use start: { type: systemd }',
    paths: ['/run/dbus/system_bus_socket'],
  },
  {
    words: named('journalctl'),
    service: 'the journal',
    paths: ['/var/log/journal', '/run/log/journal'],
  },
  { words: named('docker|docker-compose'), service: 'docker', paths: ['/run/docker.sock'] },
];

/** A sentence for each command that needs a service of the server which its sandbox hides. */
export function keptPrograms(app: string, file: DeployFile, allow: readonly string[]): string[] {
  const isOpen = (path: string) => allow.some((each) => isWithin(each, path));
  return commandsOf(file).flatMap(([place, command]) =>
    KEPT.flatMap(({ words, service, instead, paths }) => {
      const program = words.exec(command)?.[1];
      if (program === undefined || paths.some(isOpen)) return [];
      const setting = `in config.yml sandbox: { allow: { ${app}: [${paths.join(', ')}] } }`;
      const advice = instead === undefined ? `set ${setting}` : `${instead}, or set ${setting}`;
      return [`${place}: ${program} does not reach ${service} in the sandbox: ${advice}`];
    }),
  );
}

function commandsOf(file: DeployFile): [string, string][] {
  const { build, hooks, start, stop, health, logs, watch } = file;
  const started = start.type === 'process' || start.type === 'command' ? [start.run] : [];
  const places: Readonly<Record<string, readonly string[]>> = {
    build: build.run,
    ...hooks,
    health: health?.kind === 'cmd' ? [health.target] : [],
    start: started,
    stop: stop === undefined ? [] : [stop],
    logs: logs === undefined ? [] : [logs],
    watch: watch?.run === undefined ? [] : [watch.run],
  };
  return Object.entries(places).flatMap(([place, commands]) =>
    commands.map((command): [string, string] => [place, command]),
  );
}

/** Text in quotes, what a backslash takes its meaning from, also the end of a line, and comments. */
const QUOTED = /\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|(?<!\S)#.*/g;
/** Lines that belong to the next one, or end the script, and words that make one command of several lines. */
const JOINED = /(?:&&|\||\|\| *exit *\d*)\s*\n/g;
const GRAMMAR =
  /<<|^\s*(?:case|for|function|if|set (?:.*\s)?-(?:\w*e\w*|o errexit)|until|while|\w+\s*\(\)|[({])(?=[\s;(){}]|$)/m;

/** A sentence for each script of several lines that succeeds although one of them fails. */
export function looseScripts(file: DeployFile): string[] {
  const { build, hooks, migrate, jobs } = file;
  const places: Readonly<Record<string, readonly string[]>> = {
    build: build.run,
    ...hooks,
    migrate: migrate ? [migrate.run] : [],
    ...Object.fromEntries(jobs.map(({ name, run }) => [`jobs.${name}`, [run]])),
  };
  const isLoose = (script: string) => {
    const bare = script.replace(QUOTED, (text) => (text.startsWith('#') ? '' : '_'));
    return bare.replace(JOINED, ' ').trim().includes('\n') && !GRAMMAR.test(bare);
  };
  return Object.entries(places)
    .filter(([, scripts]) => scripts.some(isLoose))
    .map(([place]) => `${place}: a line that fails does not end it: begin it with set -e`);
}

/** The next word is a command again. */
const PREFIXES = new Set(
  'if then else elif while until do ! { ( time exec env command nohup nice'.split(' '),
);
/** What a shell knows without PATH, and the words of its grammar. */
const BUILTINS = new Set(
  '. : [ alias bg break case cd continue done echo esac eval exit export false fg fi for function getopts hash in jobs kill local printf pwd read readonly return set shift source test times trap true type ulimit umask unalias unset wait }'.split(
    ' ',
  ),
);

/**
 * The programs of a shell command by their plain names. A command that changes PATH, defines a
 * function or has a here-document names none: they cannot be distinguished from what it defines.
 */
function programsIn(command: string): string[] {
  if (/\bPATH=|\w\s*\(\)|<</.test(command)) return [];
  // Quoted text, escapes, comments and redirections are not commands; a quoted program stays unknown.
  const plain = command
    .replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '"')
    .replace(/(^|\s)#.*$/gm, '')
    .replace(/&>>?|[<>]{1,3}&?\s*[^\s;&|()<>]+/g, ' ');
  // The patterns of `case`, each on a line of its own.
  const known = /\bcase\b/.test(plain)
    ? plain.replace(/(^|;;|\bin\b)[ \t]*\(?[^\s()|]+(?:\s*\|\s*[^\s()|]+)*\s*\)/gm, '$1;')
    : plain;
  return known.split(/&&|\|\|?|[;&\n]|(?<=\s|^)\(|\)/).flatMap((part) => {
    const words = part.trim().split(/\s+/);
    const first = words.find((word) => !PREFIXES.has(word) && !/^\w+=/.test(word)) ?? '';
    return /^[a-z_][\w.+-]*$/i.test(first) && !BUILTINS.has(first) ? [first] : [];
  });
}

/** The keys that limit the network, where the sandbox that this needs does not work. */
export function networkProblems(
  { io: { env }, paths, app }: Pick<Operation, 'io' | 'paths' | 'app'>,
  { build, hooks, hookNetwork, jobs }: DeployFile,
): string[] {
  const { mode } = settingOf({ paths, env, app: app.app });
  if (mode !== 'off' && 'program' in bubblewrap(env)) return [];
  const { pre_build, post_build, ...others } = hooks;
  const isBuilt = build.run.length + pre_build.length + post_build.length > 0;
  const own = build.limits.network;
  const lists: (readonly [key: string, isUsed: boolean, network: Network])[] = [
    ['build.network', isBuilt, own === true ? ceilingOf({ paths, app }, 'build').network : own],
    ['hooks.network', Object.values(others).flat().length > 0, hookNetwork],
    ...jobs.map(({ name, network }) => [`jobs.${name}.network`, true, network] as const),
  ];
  return lists.flatMap(([key, isUsed, network]) =>
    isUsed && network !== true ? [`${key}: ${noLimitWords(mode)}`] : [],
  );
}
