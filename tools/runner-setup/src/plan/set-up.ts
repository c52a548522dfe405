/** Setting up, printing and undoing, with what is asked on the way. */
import type { Context } from '@runner/common/cli/command';
import { Failure, notProvided } from '@runner/common/foundation/failure';
import { harmless } from '@runner/common/text/harmless';
import { canAsk, confirm, isYes } from '@runner/common/tokens/prompt';
import { readRecord, type SetupRecord } from '@runner/deploy/instances/setup-record';
import { makeAll, takenOver, undoAll } from '../steps/apply.ts';
import { busyUsers } from '../steps/kinds.ts';
import { type Machine, saveRecord } from '../steps/machine.ts';
import type { AppNeeds } from './needs.ts';
import { planOf, type SetupPlan } from './plan.ts';
import { requireReadable } from './proxy.ts';
import {
  diffOf,
  planText,
  type SetupResult,
  type SetupStep,
  stepLine,
  stepOf,
  undoneStep,
  undoWords,
} from './show.ts';

type AskingContext = Pick<Context, 'io' | 'format'> & {
  readonly options: { readonly yes: boolean };
};

/** All that the app needs, whether it is there or not. */
export function printPlan(needs: AppNeeds): SetupResult {
  const { reports, notes } = planOf(needs);
  const steps = reports.map((each) => stepOf(needs.machine, each));
  const all = [...steps, ...stepsAfterCertificates(needs, reports)];
  return { app: needs.app, result: 'printed', steps: all, notes: [...notes] };
}

/** With its certificate a site changes once more: what is written and reloaded then. */
function stepsAfterCertificates(needs: AppNeeds, reports: SetupPlan['reports']): SetupStep[] {
  if (!reports.some(({ thing, state }) => thing.kind === 'certificate' && state === 'wanted'))
    return [];
  const before = new Set(reports.map(({ thing }) => JSON.stringify(thing)));
  const later = planOf({ ...needs, certified: true }).reports.map(({ thing }) => thing);
  const files = later.filter((each) => each.kind === 'file' && !before.has(JSON.stringify(each)));
  const paths = files.flatMap((each) => (each.kind === 'file' ? [each.path] : []));
  const reloads = later.filter(
    (each) => each.kind === 'reload' && each.paths.some((path) => paths.includes(path)),
  );
  return [...files, ...reloads].map((thing) => {
    const step = stepOf(needs.machine, { thing, state: 'wanted' });
    return { ...step, step: `after certbot has the certificate: ${step.step}` };
  });
}

/** Makes what is missing. Throws `foreign_file`, `setup_failed`, `interrupted`. */
export function setUp(context: AskingContext, needs: AppNeeds): SetupResult {
  const { machine, app } = needs;
  const plan = planOf(needs);
  // A renewal may have replaced a key since.
  if (plan.reports.some(({ thing }) => thing.kind === 'reload' && thing.name === 'caddy'))
    requireReadable(needs);
  const wanted = plan.reports.filter(({ state }) => state !== 'there');
  if (wanted.length === 0 && plan.stale.length === 0) {
    const steps = plan.reports.map((each) => stepOf(machine, each));
    return { app, result: 'nothing_to_do', steps, notes: [...plan.notes] };
  }
  confirmPlan(context, needs, plan);
  const show = showOn(context);
  const before = readRecord(machine.env, app)?.choices ?? {};
  const removed = undoAll(machine, plan.stale, (each) => show(undoneStep(each)));
  makeWith(machine, plan, before, show);
  // With its certificate the site changes once more.
  const hasNew = plan.reports.some(
    ({ thing, state }) => thing.kind === 'certificate' && state === 'made',
  );
  const last = hasNew ? planOf(needs) : plan;
  if (hasNew) makeWith(machine, last, machine.record.choices, show);
  const steps = [...removed.map(undoneStep), ...last.reports.map((each) => stepOf(machine, each))];
  return { app, result: 'made', steps, notes: [...last.notes] };
}

type ShowStep = (step: SetupStep) => void;

/** For people: each step as it ends. */
function showOn({ io, format }: AskingContext): ShowStep {
  return (step) => {
    if (format === 'human') io.stdout.write(stepLine(step));
  };
}

/** `before`: the choices of the last run. Those of a configuration that is refused go, as its files do. */
function makeWith(
  machine: Machine,
  { reports }: SetupPlan,
  before: SetupRecord['choices'],
  show: ShowStep,
): void {
  try {
    makeAll(machine, reports, (each) => show(stepOf(machine, each)));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const [refused] = reports.flatMap(({ state, thing }) =>
      state === 'failed' && thing.kind === 'reload' ? [thing] : [],
    );
    if (refused) {
      // A unit that was made before the proxy refused its site stays.
      const ofUnit = refused.test ? ['run', 'user'] : [];
      const kept = Object.entries(machine.record.choices).filter(([name]) => ofUnit.includes(name));
      machine.record.choices = { ...before, ...Object.fromEntries(kept) };
      saveRecord(machine);
    }
    const steps = reports.map((each) => stepOf(machine, each));
    throw new Failure(error.code, error.message, { steps });
  }
}

/** Shows the plan, and asks about each file of a person, then about all. */
function confirmPlan({ io, options }: AskingContext, needs: AppNeeds, plan: SetupPlan): void {
  const { machine } = needs;
  const others = takenOver(
    machine,
    plan.reports.map(({ thing }) => thing),
  );
  if (options.yes) {
    const [first] = others;
    if (first === undefined) return;
    const how =
      first.standing === 'changed'
        ? 'was changed since setup made it'
        : 'exists and setup did not make it';
    const words = `${first.thing.path} ${how}: run setup on a terminal, which shows the difference and asks, or move the file away`;
    throw new Failure('foreign_file', words);
  }
  if (!canAsk(io)) throw notProvided('--yes (stdin is not a terminal)');
  const show = (text: string) => io.stderr.write(text);
  for (const { thing } of others) {
    show(harmless(diffOf(machine, thing)));
    const report = plan.reports.find((each) => each.thing === thing);
    if (!isYes(io, `Replace ${thing.path}, which setup did not write like this?`) && report)
      report.state = 'kept';
  }
  const wanted = plan.reports.filter(({ state }) => state === 'wanted');
  const gone = plan.stale.map((each) => `    ${undoWords(each)}\n`);
  const steps = wanted.map((each) => stepOf(machine, each));
  const later = stepsAfterCertificates(needs, plan.reports);
  show(`${planText([...steps, ...later])}${gone.join('')}`);
  confirm(io, 'Make these changes?');
}

/** Undoes all that the record has. Throws `setup_failed`, `interrupted`. */
export function undo(
  context: AskingContext & Pick<Context, 'paths'>,
  record: SetupRecord,
): SetupResult {
  const { io, paths, options } = context;
  const machine: Machine = { server: { io, paths }, env: io.env, record };
  const { app, made } = record;
  if (made.length === 0) return { app, result: 'nothing_to_do', steps: [], notes: [] };
  const [busy] = busyUsers(machine);
  if (busy !== undefined)
    throw new Failure(
      'setup_failed',
      `processes of ${busy} are running: run runner stop ${app} first`,
    );
  if (!options.yes) {
    if (!canAsk(io)) throw notProvided('--yes (stdin is not a terminal)');
    const lines = made.map((each) => `${undoWords(each)}\n`).reverse();
    io.stderr.write(harmless(lines.join('')));
    confirm(io, 'Undo all of this?');
  }
  const show = showOn(context);
  const steps = undoAll(machine, made, (each) => show(undoneStep(each))).map(undoneStep);
  const failed = steps.find(({ state }) => state === 'failed');
  if (failed) throw new Failure('setup_failed', failed.why ?? failed.step, { steps });
  return { app, result: 'undone', steps, notes: [] };
}
