import { command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { foreignOwner } from '@runner/common/files/foreign-root';
import { signalStatus } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { type Examination, endPrograms, examine } from '../checks/examine.ts';
import type { Level } from '../foundation/finding.ts';
import { sandboxText } from '../sandbox/table.ts';
import { type SandboxReport, tryEscapes } from '../sandbox/try.ts';

export const doctor = command({
  about: 'Check this installation, and show how to fix it',
  details:
    'Checks folders, keys, config.yml, tokens, chats, timers, disk, programs, clock, logs and leftovers\n' +
    'of killed deploys. Changes nothing. Each finding is ok, a warning or a problem, with the command\n' +
    'that fixes it. Exits with 1 if there is a problem. The JSON field mend is the deprecated name of fix.\n' +
    '\n' +
    "With --sandbox, tries to reach decoy files, a decoy process and the server's sockets and logs:\n" +
    'without the sandbox, as a build, as a hook or health check, and as the app or the command that starts\n' +
    'it. Exits with 1 if an escape succeeds, or if the sandbox is off or does not work.',
  options: {
    offline: { about: 'Contact neither the code host nor the chats' },
    sandbox: { about: 'Only try to escape from the sandbox, and print the results' },
  },
  examples: [
    'runner doctor',
    'runner doctor --sandbox',
    'runner doctor --offline --json | jq -r \'.findings[] | select(.level == "problem") | .fix\'',
  ],
  safeInForeignRoot: true,
  async run(context) {
    const { io, paths, options } = context;
    let remove = () => {};
    const stopped = new Promise<NodeJS.Signals>((resolve) => {
      remove = io.onSignal(resolve);
    });
    // To ask a code host, git writes below the root.
    const offline = options.offline || foreignOwner(io.uid, paths) !== undefined;
    const work = options.sandbox ? tryEscapes(context) : examine(context, offline);
    const value = await Promise.race([work, stopped]);
    remove();
    if (typeof value !== 'string')
      return { value, status: ('holds' in value ? value.holds : value.healthy) ? 0 : 1 };
    await endPrograms();
    return { status: signalStatus(value) };
  },
  human(value: Examination | SandboxReport, style, { options }) {
    if ('attempts' in value) return sandboxText(value, style);
    const { findings, problems, warnings, skipped } = value;
    const width = Math.max(...findings.map(({ check }) => check.length));
    const shown = new Set<string>();
    const lines = findings.map(({ check, level, message, fix }) => {
      const first = `${word(level, style)}  ${check.padEnd(width)}  ${harmlessLine(message)}\n`;
      const indent = ' '.repeat(WORD + width + 4);
      // One command can fix several findings: it is printed once.
      if (fix === null || shown.has(fix)) return first;
      shown.add(fix);
      return `${first}${indent}${style.cyan(harmlessLine(fix))}\n`;
    });
    // Of another user's root everything else is skipped.
    if (skipped.includes('disk')) return lines.join('');
    const why = options.offline ? '--offline' : 'others could have changed files';
    const left = skipped.length > 0 ? `; skipped (${why}): ${skipped.join(', ')}` : '';
    return `${lines.join('')}\n${count(problems, 'problem')}, ${count(warnings, 'warning')}${left}\n`;
  },
});

/** Width of the longest word. */
const WORD = 7;

function word(level: Level, style: Style): string {
  const colour = { ok: style.green, warning: style.yellow, problem: style.red }[level];
  return colour(level.padEnd(WORD));
}

function count(number: number, what: string): string {
  return `${number === 0 ? 'no' : number} ${what}${number === 1 ? '' : 's'}`;
}
