import { editFor } from '@runner/common/apps/next';
import { pauseOf, pauseWords } from '@runner/common/apps/operator';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import {
  type CommandResult,
  type Context,
  command,
  EVENTS_OPTION,
} from '@runner/common/cli/command';
import { canDraw } from '@runner/common/cli/output';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { EXIT, Failure, signalStatus } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { canAsk, confirm } from '@runner/common/tokens/prompt';
import {
  ANSWER_OPTIONS,
  type AnswerValues,
  APPROVAL_OPTIONS,
  type ApprovalChoice,
  answersOf,
  waitOf,
} from '@runner/deploy/approval/options';
import { givenIdOf, ID_OPTIONS } from '@runner/deploy/journal/given-id';
import { deployByHand } from '@runner/deploy/pipeline/by-hand';
import { type DeployPlan, planDeploy } from '@runner/deploy/pipeline/check';
import { explainFailure } from '@runner/deploy/pipeline/explanation';
import type { DeployOutcome } from '@runner/deploy/pipeline/outcome';
import { type Interruption, interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { withoutSteps } from '@runner/deploy/report/reporter';
import { outcomeText } from '../outcome-text.ts';
import { planText } from '../plan-text.ts';
import { chosenApps, oneAfterTheOther } from '../several.ts';

export const deploy = command({
  about: 'Deploy an app from git',
  details:
    'Builds the newest commit in a separate folder, switches to it, starts it and waits until it is\n' +
    "healthy. If that fails, the previous version is restored. The commit's .deploy.yml says what to do.\n" +
    'With --json each step is one line, and the last line is the result: deployed, failed or\n' +
    'rolled_back. If --ref or --instance leaves an instance on another commit than the head of the\n' +
    'branch, fetch --deploy skips that head until the next push. Several apps are deployed one after the\n' +
    'other, each with its own result; the status is the worst of them.',
  positionals: { apps: { many: true, about: 'Names of apps; required without --all' } },
  options: {
    all: { about: 'Deploy every registered app that is not on hold' },
    ref: {
      placeholder: 'REF',
      about: "Branch, tag or commit to deploy [default: the app's branch]",
    },
    instance: { placeholder: 'NAME', about: 'Only this instance [default: all]' },
    check: {
      about: 'Check .deploy.yml and everything else a deploy needs, but deploy nothing',
      conflicts: ['plan'],
    },
    'dry-run': { about: 'The same as --check', conflicts: ['plan'] },
    ...ANSWER_OPTIONS,
    force: { about: 'Deploy even if the app is paused' },
    'no-notify': { about: 'Send no notifications; the audit log is still written' },
    wait: {
      placeholder: 'TIME',
      about: 'Wait up to this long (30s, 10m, 1h) for another deploy of the app to end',
    },
    ...APPROVAL_OPTIONS,
    ...ID_OPTIONS,
    ...EVENTS_OPTION,
    verbose: { short: 'v', about: 'Show the output of the steps as it arrives' },
  },
  exits: [
    [3, 'The deploy failed, and so did its rollback'],
    [75, 'Another deploy of the app is running; --wait waits for it'],
    [130, 'Interrupted (Ctrl-C); what had been switched was rolled back'],
  ],
  examples: [
    'runner deploy shop',
    'runner deploy shop --ref v1.4.2',
    'runner deploy shop --check',
    'runner deploy shop blog',
    'runner deploy shop --events --no-notify | runner-notify send --channel telegram',
  ],
  async run(context) {
    const interruption = interruptionOf(context.io);
    try {
      const { check, 'dry-run': isDry } = context.options;
      const run = check || isDry ? runCheck : runDeploy;
      const apps = chosenApps(context);
      const one = (app: string) =>
        run({ ...context, args: { app } }, interruption).catch((error: unknown) => {
          throw withEdit(context, app, error);
        });
      const [only] = apps;
      if (only !== undefined && apps.length === 1) return await one(only);
      return await oneAfterTheOther(context, apps, interruption, one);
    } finally {
      interruption.remove();
    }
  },
  human(outcome: DeployOutcome | DeployPlan, style) {
    if ('steps' in outcome) return planText(outcome, style);
    return outcomeText(outcome, style);
  },
});

type DeployContext = Pick<Context, 'io' | 'paths' | 'format' | 'note' | 'errStyle'> & {
  readonly args: { readonly app: string };
  readonly options: {
    readonly ref: string | undefined;
    readonly instance: string | undefined;
    readonly 'no-notify': boolean;
    readonly wait: string | undefined;
    readonly force: boolean;
    readonly 'deploy-id': string | undefined;
    readonly trigger: string | undefined;
    readonly events: boolean;
    readonly verbose: boolean;
  } & ApprovalChoice &
    AnswerValues;
};

async function runDeploy(
  context: DeployContext,
  interruption: Interruption,
): Promise<CommandResult> {
  const { io, paths, args, options, format, note } = context;
  const wait = waitOf(options.wait);
  const given = givenIdOf(options);
  if (!options.force) confirmPaused(io, requireApp(paths, args.app));
  const progress = progressFor(context, options.verbose);
  try {
    const outcome = await deployByHand({
      io,
      paths,
      app: args.app,
      ref: options.ref,
      instance: options.instance,
      ...given,
      plan: options.plan,
      emergency: options.emergency,
      notify: !options['no-notify'],
      wait,
      ...answersOf(options),
      reporter: progress.reporter,
      signal: interruption.signal,
      next: interruption.next,
    });
    progress.end();
    if (outcome.result !== 'deployed') {
      explainFailure(context, outcome, 'deploy');
    } else noteBeforeTraffic(context);
    return { value: outcome, status: statusOf(outcome, interruption.by) };
  } catch (error) {
    progress.end();
    if (interruption.by) {
      const message = `interrupted by ${interruption.by} before anything was changed`;
      note(`${message} (interrupted)`);
      const value = { error: 'interrupted', message, app: args.app, result: 'failed' };
      return { status: signalStatus(interruption.by), ...(format !== 'human' && { value }) };
    }
    if (!(error instanceof Failure)) throw error;
    // The last line of --json always has a result, even if the deploy never began.
    const result = error.code === 'locked' ? 'skipped' : 'failed';
    const facts = { ...error.facts, app: args.app, result };
    throw new Failure(error.code, error.message, facts, error.cause);
  }
}

/** What the code host refused, with the command that changes it. */
function withEdit({ paths }: Pick<Context, 'paths'>, name: string, error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const { code, message, facts, cause } = error;
  const edit = unlessFailure(() => editFor(requireApp(paths, name), code), undefined);
  return edit ? new Failure(code, `${message}; run: ${edit}`, facts, cause) : error;
}

/** The first deploy with `traffic` moves no request yet: the proxy does not know the slots. */
function noteBeforeTraffic({ paths, args: { app }, note }: DeployContext): void {
  const { instances } = requireApp(paths, app);
  const old = Object.values(instances).flatMap((each) => each.before_traffic ?? []);
  const [first] = old;
  if (first)
    note(
      `${harmlessLine(first.version)} still runs as before traffic, and still gets the requests until the proxy leads to ${paths.app(app).instances}/*/live: change that (sudo runner setup ${app} does), then runner stop ${app} --before-traffic`,
    );
}

/** Asks before a paused app is deployed. Throws `paused`, `interrupted`. */
function confirmPaused(io: Context['io'], app: AppState): void {
  const pause = pauseOf(app, io.now());
  if (!pause) return;
  const why = `'${app.app}' is ${pauseWords(pause)}`;
  if (!canAsk(io)) throw new Failure('paused', `${why}; deploy it with --force`);
  confirm(io, `${harmlessLine(why)}. Deploy it?`);
}

function statusOf(outcome: DeployOutcome, signal: NodeJS.Signals | undefined): number {
  if (outcome.rollback_error) return EXIT.rollbackFailed;
  if (outcome.interrupted && signal) return signalStatus(signal);
  return outcome.result === 'deployed' ? EXIT.ok : EXIT.failed;
}

async function runCheck(
  context: DeployContext,
  interruption: Interruption,
): Promise<CommandResult> {
  const { io, paths, args, options, format, note } = context;
  const progress = progressFor({ ...context, format: 'human' }, false);
  // Steps are drawn on a terminal only: elsewhere they would look like the steps of the plan.
  const isDrawn = format === 'human' && canDraw(io.env, io.stderr);
  try {
    const plan = await planDeploy({
      io,
      paths,
      app: args.app,
      ref: options.ref,
      instance: options.instance,
      ...answersOf(options),
      isForced: options.force,
      wait: waitOf(options.wait),
      reporter: isDrawn ? progress.reporter : withoutSteps(progress.reporter),
      signal: interruption.signal,
    });
    return { value: plan, status: plan.result === 'valid' ? EXIT.ok : EXIT.failed };
  } catch (error) {
    if (!interruption.by) throw error;
    const message = `interrupted by ${interruption.by}`;
    note(`${message} (interrupted)`);
    const value = { error: 'interrupted', message };
    return { status: signalStatus(interruption.by), ...(format !== 'human' && { value }) };
  } finally {
    progress.end();
  }
}
