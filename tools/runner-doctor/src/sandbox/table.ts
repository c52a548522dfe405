/** The table of `runner doctor --sandbox`. */
import type { Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Result, SandboxReport, Tried } from './try.ts';

const COLUMN = 9;

/** `allowed`: it succeeded, and is supposed to. */
function cell(result: Result | null, isAllowed: boolean, style: Style): string {
  if (result === null) return '-'.padEnd(COLUMN);
  if (result !== 'reached') return result.padEnd(COLUMN);
  return isAllowed ? 'allowed'.padEnd(COLUMN) : style.red('REACHED'.padEnd(COLUMN));
}

export function sandboxText({ problem, escaped, attempts }: SandboxReport, style: Style): string {
  const width = Math.max(...attempts.map(({ attempt }) => attempt.length));
  const head = `${'attempt'.padEnd(width)}  ${'without'.padEnd(COLUMN)} ${'build'.padEnd(COLUMN)} hook, app`;
  const line = ({ attempt, without, build, app, open_to_app: isOpen }: Tried) =>
    `${attempt.padEnd(width)}  ${cell(without, true, style).replace('allowed', 'reached')} ${cell(build, false, style)} ${cell(app, isOpen, style)}`.trimEnd();
  const lines = attempts.flatMap((each, at) =>
    each.group === attempts[at - 1]?.group ? line(each) : ['', style.bold(each.group), line(each)],
  );
  const verdict =
    problem !== null
      ? style.red(`no sandbox: ${harmlessLine(problem)}`)
      : escaped === 0
        ? style.green('no attempt escaped from the sandbox')
        : style.red(
            `${escaped} ${escaped === 1 ? 'attempt' : 'attempts'} escaped from the sandbox`,
          );
  return `${head}\n${lines.join('\n')}\n\n${verdict}\n`;
}
