/** The table of `runner doctor --sandbox`. */
import type { Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { type AttemptResult, PROFILES, type SandboxReport, type Tried } from './try.ts';

const COLUMN = 12;

/** `allowed`: it succeeded, and is supposed to. */
function cell(result: AttemptResult | null, isAllowed: boolean, style: Style): string {
  if (result === null) return '-'.padEnd(COLUMN);
  if (result !== 'reached') return result.padEnd(COLUMN);
  return isAllowed ? 'allowed'.padEnd(COLUMN) : style.red('REACHED'.padEnd(COLUMN));
}

/** What the columns are called; a hook's is that of health checks and `exec`, the app's that of its start. */
const HEADS = { build: 'build', hook: 'hook, health', app: 'start, app' };

export function sandboxText(report: SandboxReport, style: Style): string {
  const { attempts } = report;
  const width = Math.max(...attempts.map(({ attempt }) => attempt.length));
  const heads = PROFILES.map((name) => HEADS[name].padEnd(COLUMN));
  const head = [`${'attempt'.padEnd(width)} `, 'without'.padEnd(COLUMN), ...heads].join(' ');
  const line = (tried: Tried) => {
    const outside = cell(tried.without, true, style).replace('allowed', 'reached');
    const cells = PROFILES.map((name) => cell(tried[name], tried.open_to.includes(name), style));
    return [`${tried.attempt.padEnd(width)} `, outside, ...cells].join(' ').trimEnd();
  };
  const lines = attempts.flatMap((each, at) =>
    each.group === attempts[at - 1]?.group ? line(each) : ['', style.bold(each.group), line(each)],
  );
  return `${head.trimEnd()}\n${lines.join('\n')}\n\n${verdictOf(report, style)}\n`;
}

function verdictOf({ mode, off_for, problem, escaped }: SandboxReport, style: Style): string {
  if (mode === 'off')
    return style.red(
      "sandbox: off: commands run as in the column 'without', whatever the others say",
    );
  if (problem !== null) return style.red(`no sandbox: ${harmlessLine(problem)}`);
  const verdict =
    escaped === 0
      ? style.green('no attempt escaped from the sandbox')
      : style.red(`${escaped} ${escaped === 1 ? 'attempt' : 'attempts'} escaped from the sandbox`);
  const off = off_for.map((app) => `${harmlessLine(app)}: off, as in the column 'without'`);
  return [verdict, ...off.map((each) => style.yellow(each))].join('\n');
}
