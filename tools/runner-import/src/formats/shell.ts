/** Command lines of other tools, sorted into the steps of a deploy. */
import { type Fate, left, to } from '../plan/plan.ts';
import type { ImportRule } from '../plan/table.ts';

/** What a deploy of runner does anyway: fetch the commit, and start the app. */
const DONE =
  /^(?:sudo\s+)?(?:git\s+(?:pull|fetch|checkout|reset)\b|pm2\s+(?:start|restart|reload|startOr\w+|gracefulReload|save|delete|stop)\b)/;
/** It changes the shell for what follows, so that the commands stay one. */
const SHELL = /^(?:cd|export|source|\.|set|nvm|eval)\s/;
const QUOTED = /["'`(){}|<>]/;
const LAST = /\s*(?:&&|;)\s*([^"'`(){}|<>;&]+)$/;
const MIGRATES = /migrat/i;

/** `a && b; c` as its commands; one command if they share a shell, or are more than a plain list. */
function commandsOf(line: string): string[] {
  const parts = line
    .split(/\s*(?:&&|;|\n)\s*/)
    .filter((part) => part !== '')
    // Commands run in sh, which has no `source`.
    .map((part) => part.replace(/^source\s/, '. '));
  const isPlain = !QUOTED.test(line) && !parts.some((part) => SHELL.test(part));
  const kept = parts.filter((part) => !DONE.test(part));
  if (isPlain) return kept;
  // In quotes a separator may not end a command: only the last command is surely one.
  if (QUOTED.test(line))
    return [line.replace(LAST, (all, last: string) => (DONE.test(last) ? '' : all))];
  return kept.length > 0 ? [kept.join(' && ')] : [];
}

/** Commands after a checkout: migrations before the switch, the others are the build. */
export const deployCommands: ImportRule = (entry, plan): Fate => {
  if (entry.computed || typeof entry.value !== 'string')
    return left('is computed: write its commands into build.run');
  const fates = commandsOf(entry.value).map((command) =>
    plan.append(MIGRATES.test(command) ? 'hooks.pre_switch' : 'build.run', entry, command),
  );
  return joined(fates) ?? to('start: runner starts the app itself');
};

/** The fate of an entry that became several settings: left if one of them is. */
function joined(fates: readonly Fate[]): Fate | undefined {
  const bad = fates.find((fate) => 'reason' in fate);
  if (bad) return bad;
  const places = new Set(fates.flatMap((fate) => ('to' in fate ? fate.to : [])));
  return places.size === 0 ? undefined : to([...places].join(', '));
}
