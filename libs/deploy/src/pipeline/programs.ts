/** The programs that the commands of `.deploy.yml` use, if they can be read from them. */
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Env } from '@runner/common/foundation/io';
import { onPath } from '../instances/drivers/availability.ts';
import { stepEnvironment } from '../run/environment.ts';

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

function commandsOf({ build, hooks, start, stop, health }: DeployFile): [string, string][] {
  const started = start.type === 'process' || start.type === 'command' ? [start.run] : [];
  const places: Readonly<Record<string, readonly string[]>> = {
    build: build.run,
    ...hooks,
    health: health?.kind === 'cmd' ? [health.target] : [],
    start: started,
    stop: stop === undefined ? [] : [stop],
  };
  return Object.entries(places).flatMap(([place, commands]) =>
    commands.map((command): [string, string] => [place, command]),
  );
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
    .replace(/&>>?|[<>]+&?\s*[^\s;&|()<>]+/g, ' ');
  return plain.split(/&&|\|\|?|[;&\n]|(?<=\s|^)\(|\)/).flatMap((part) => {
    const words = part.trim().split(/\s+/);
    const first = words.find((word) => !PREFIXES.has(word) && !/^\w+=/.test(word)) ?? '';
    return /^[a-z_][\w.+-]*$/i.test(first) && !BUILTINS.has(first) ? [first] : [];
  });
}
