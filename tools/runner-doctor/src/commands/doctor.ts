import { command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { signalStatus } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Examination, Level } from '../foundation/finding.ts';

export const doctor = command({
  name: '',
  about: 'Check this installation, and say how to fix what is wrong',
  details: [
    'Checks folders, keys, config.yml, tokens, chats, timers, the disk, programs, the clock, what dead',
    'deploys left behind, and the logs. Changes nothing. Each finding is ok, a warning or a problem, with',
    'the command that fixes it. The status is 1 when there is a problem, 0 with only warnings.',
  ].join('\n'),
  options: {
    offline: { kind: 'flag', about: 'Contact neither the code host nor the chats' },
  },
  examples: [
    'runner doctor',
    'runner doctor --offline --json | jq -r \'.findings[] | select(.level == "problem") | .mend\'',
  ],
  async run(context) {
    const { examine } = await import('../checks/examine.ts');
    let remove = () => {};
    const stopped = new Promise<NodeJS.Signals>((resolve) => {
      remove = context.io.onSignal(resolve);
    });
    const value = await Promise.race([examine(context, context.options.offline), stopped]);
    remove();
    if (typeof value !== 'string') return { value, status: value.healthy ? 0 : 1 };
    const { endPrograms } = await import('../foundation/program.ts');
    endPrograms();
    return { status: signalStatus(value) };
  },
  human({ findings, problems, warnings, skipped }: Examination, style, { options }) {
    const width = Math.max(...findings.map(({ check }) => check.length));
    const lines = findings.map(({ check, level, message, mend }) => {
      const first = `${word(level, style)}  ${check.padEnd(width)}  ${harmlessLine(message)}\n`;
      const indent = ' '.repeat(WORD + width + 4);
      return mend === null ? first : `${first}${indent}${style.cyan(harmlessLine(mend))}\n`;
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
