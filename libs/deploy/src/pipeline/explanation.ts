/** What is printed on stderr after a failed deploy. */
import { openPlans, waitingPlans, withApprovals } from '@runner/common/apps/plan-words';
import { leftMigration } from '@runner/common/apps/schema-way';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import type { Style } from '@runner/common/cli/output';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { codePoints, cutCodePoints } from '@runner/common/text/plain';
import { isOutdated } from '../approval/facts.ts';
import { nothingToDo, planRollback } from '../rollback/plan.ts';
import type { DeployOutcome } from './outcome.ts';

/** Lines shown of a failed step; the rest is in the log. */
const TAIL_LINES = 20;

/** Limit of a line, in code points: an endless line would fill the terminal. */
const LINE_MAX = 400;

/** Prints the end of the output, where the rest is, and what to type next. */
export function explainFailure(
  { io, paths, errStyle }: Server & { errStyle: Style },
  { app, version, error, cause, log }: DeployOutcome,
  command: 'deploy' | 'fetch',
): void {
  const [headline = '', ...output] = (error ?? '').split('\n');
  const shown = output.slice(-TAIL_LINES);
  const tail = shown.map((line) => `  ${harmless(cutCodePoints(line, LINE_MAX))}\n`);
  const isCut = shown.some((line) => codePoints(line) > LINE_MAX);
  const left =
    output.length > TAIL_LINES
      ? `  … ${output.length - TAIL_LINES} more lines in ${log} (runner debug log ${app})\n`
      : isCut
        ? `  … whole lines in ${log} (runner debug log ${app})\n`
        : '';
  io.stderr.write(`${errStyle.red(harmlessLine(headline))}\n${left}${tail.join('')}`);
  if (left !== '' && cause) {
    const lines = cause.split('\n').map((line) => `  ${harmless(line)}\n`);
    io.stderr.write(`${errStyle.bold('Why:')}\n${lines.join('')}`);
  }
  printNextSteps({ io, paths }, app, version, command);
}

/** What to type after a failed deploy; `fetch` names the same two commands, `refused` none that changes what runs. */
export function printNextSteps(
  { io, paths }: Server,
  app: string,
  version: string,
  command: 'deploy' | 'fetch' | 'refused',
): void {
  const state = findApp(paths, app);
  const left = state && leftMigration(state)?.command;
  const isUseful = command === 'fetch' || left || (state && changesSomething(paths, state));
  const plans = state
    ? waitingPlans(openPlans(paths, state, io.now(), (...of) => isOutdated({ io, paths }, ...of)))
    : [];
  const back = withApprovals(paths, app, plans, left ?? `runner rollback ${app}`);
  const [why, error] = [`runner why ${app}`, `runner debug last-error ${app}`];
  const look = command === 'fetch' ? error : why;
  const next = command === 'refused' ? [why, error] : [look, ...(isUseful ? [back] : [])];
  const lines = next.map((each) => `  ${each}\n`).join('');
  io.stderr.write(`Deploy FAILED for ${app} ${harmlessLine(version)}.\nNext steps:\n${lines}`);
}

/** Whether a rollback of all instances does something. */
function changesSomething(paths: Paths, state: AppState): boolean {
  const target = { to: undefined, instance: undefined };
  if (nothingToDo(paths, state, target)) return false;
  return unlessFailure(() => Boolean(planRollback(paths, state, target)), false);
}
