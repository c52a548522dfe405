import { command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { signalStatus } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Examination, Level } from '../foundation/finding.ts';
import { sandboxText } from '../sandbox/table.ts';
import type { SandboxReport } from '../sandbox/try.ts';

export const doctor = command({
  name: '',
  about: 'Check this installation, and say how to fix what is wrong',
  details: [
    'Checks folders, keys, config.yml, tokens, chats, timers, the disk, programs, the clock, what dead',
    'deploys left behind, and the logs. Changes nothing. Each finding is ok, a warning or a problem, with',
    'the command that fixes it. The status is 1 when there is a problem, 0 with only warnings.',
    '',
    'With --sandbox, attempts to escape are run without the sandbox, as a build and as a hook, on files and a',
    'process made for that; nothing real is touched. The status is 1 when one gets out of the sandbox, or when',
    'the sandbox cannot run here.',
  ].join('\n'),
  options: {
    offline: { kind: 'flag', about: 'Contact neither the code host nor the chats' },
    sandbox: {
      kind: 'flag',
      about: 'Only try every way out of the sandbox, and print which is open',
    },
  },
  examples: [
    'runner doctor',
    'runner doctor --sandbox',
    'runner doctor --offline --json | jq -r \'.findings[] | select(.level == "problem") | .mend\'',
  ],
  async run(context) {
    if (context.options.sandbox) {
      const { tryEscapes } = await import('../sandbox/try.ts');
      const value = await tryEscapes(context.io);
      return { value, status: value.holds ? 0 : 1 };
    }
    const { examine, endPrograms } = await import('../checks/examine.ts');
    let remove = () => {};
    const stopped = new Promise<NodeJS.Signals>((resolve) => {
      remove = context.io.onSignal(resolve);
    });
    const value = await Promise.race([examine(context, context.options.offline), stopped]);
    remove();
    if (typeof value !== 'string') return { value, status: value.healthy ? 0 : 1 };
    await endPrograms();
    return { status: signalStatus(value) };
  },
  human(value: Examination | SandboxReport, style, { options }) {
    if ('attempts' in value) return sandboxText(value, style);
    const { findings, problems, warnings, skipped } = value;
    const width = Math.max(...findings.map(({ check }) => check.length));
    const shown = new Set<string>();
    const lines = findings.map(({ check, level, message, mend }) => {
      const first = `${word(level, style)}  ${check.padEnd(width)}  ${harmlessLine(message)}\n`;
      const indent = ' '.repeat(WORD + width + 4);
      // One command can fix several findings: it is printed once.
      if (mend === null || shown.has(mend)) return first;
      shown.add(mend);
      return `${first}${indent}${style.cyan(harmlessLine(mend))}\n`;
    });
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
