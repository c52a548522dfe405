import { command, EVENTS_OPTION } from '@runner/common/cli/command';
import { EXIT, Failure, Interrupted } from '@runner/common/foundation/failure';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { canAsk, isYes } from '@runner/common/tokens/prompt';
import { APPROVAL_OPTIONS, WAIT_OPTION, waitOf } from '@runner/deploy/approval/options';
import { givenIdOf, ID_OPTIONS } from '@runner/deploy/journal/given-id';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import type { RollbackOutcome } from '@runner/deploy/rollback/outcome';
import { rollBackByHand } from '@runner/deploy/rollback/rollback';

export const rollback = command({
  about: 'Roll back to the previous version',
  details:
    'Switches to a kept release and starts it: no network, no token, no build. The commit you rolled back\n' +
    'from is put on hold: fetch --deploy skips it until a new push or a runner deploy. If the app is\n' +
    'broken, starts the version it should be running.',
  positionals: { app: { required: true, about: 'Name of the app', listedBy: 'runner list' } },
  options: {
    to: {
      placeholder: 'VERSION',
      about: 'Version or commit to switch to [default: the previous one]',
    },
    instance: { placeholder: 'NAME', about: 'Only this instance [default: all]' },
    'accept-schema': {
      placeholder: 'VERSION',
      about: 'Go back to this version although the database has changed since',
    },
    database: {
      placeholder: 'BACKUP',
      about: 'Bring the database back, too: stops the app and restores this backup',
    },
    force: { about: 'Allow a version without traffic; change the proxy first' },
    wait: WAIT_OPTION,
    ...APPROVAL_OPTIONS,
    ...ID_OPTIONS,
    ...EVENTS_OPTION,
    'no-notify': { about: 'Send no notifications; the audit log is still written' },
  },
  exits: [
    [3, 'The rollback failed, and the active version could not be restored'],
    [75, 'A deploy of the app is running; --wait waits for it'],
  ],
  async run(context) {
    const { io, paths, args, options, errStyle } = context;
    const given = givenIdOf(options);
    const wait = waitOf(options.wait);
    const progress = progressFor(context, false);
    // A rollback does not stop half way: a signal ends only its wait.
    const interruption = interruptionOf(io);
    try {
      const outcome = await rollBackByHand({
        io,
        paths,
        app: args.app,
        to: options.to,
        instance: options.instance,
        ...given,
        plan: options.plan,
        emergency: options.emergency,
        notify: !options['no-notify'],
        wait,
        isMoot: () => interruption.by !== undefined,
        force: options.force,
        acceptSchema: options['accept-schema'],
        database: options.database,
        ...(canAsk(io) && {
          confirm: (words: string) => isYes(io, `${harmlessLine(words)}. Go back?`),
        }),
        reporter: progress.reporter,
      });
      progress.end();
      if (outcome.error !== undefined)
        io.stderr.write(`${errStyle.red(harmless(outcome.error))}\n`);
      const failed = outcome.rollback_error ? EXIT.rollbackFailed : EXIT.failed;
      return { value: outcome, status: outcome.result === 'failed' ? failed : EXIT.ok };
    } catch (error) {
      const isEnded = error instanceof Failure && error.code === 'interrupted' && interruption.by;
      throw isEnded ? new Interrupted(isEnded) : error;
    } finally {
      progress.end();
      interruption.remove();
    }
  },
  human(outcome: RollbackOutcome, style) {
    const { app, result, version, from_version: from, deploy_id: id, database } = outcome;
    const name = style.bold(harmlessLine(app));
    const undo = database
      ? `The database is as of ${harmlessLine(database.at)}; to undo this: ${database.undo}\n`
      : '';
    if (result === 'rolled_back' && outcome.restarted) {
      return `${style.green('Started')} ${harmlessLine(from)} of ${name} again [${id}]\n${undo}`;
    }
    if (result === 'unchanged') return unchangedText(outcome);
    if (result === 'rolled_back') {
      return `${style.green('Rolled back')} ${name}${movesText(outcome)} [${id}]\n${undo}`;
    }
    const now = outcome.rollback_error
      ? `${harmless(outcome.rollback_error)}. It is uncertain what is running now: check the app.`
      : `${harmlessLine(version ?? '')} is active as before.`;
    return `${style.red('Failed')} to roll back ${name} [${id}]. ${now}\n`;
  },
});

/** ` from v2 to v1`, or each instance if they differ. */
function movesText({ instances = [] }: RollbackOutcome): string {
  const moves = instances.map(
    ({ from_version: from, version: to }) => `from ${harmlessLine(from)} to ${harmlessLine(to)}`,
  );
  if (new Set(moves).size === 1) return ` ${moves[0]}`;
  return `: ${instances.map(({ instance }, index) => `${harmlessLine(instance)} ${moves[index]}`).join(', ')}`;
}

function unchangedText(outcome: RollbackOutcome): string {
  const { app, version, failed_version: failed, earlier_version: earlier } = outcome;
  const [active, left] = [version, failed].map((each) => harmlessLine(each ?? ''));
  const way = earlier
    ? `to undo ${active}: runner rollback ${harmlessLine(app)} --to ${harmlessLine(earlier)}`
    : 'there is no earlier version';
  const what = active === left ? `deploying it again failed` : `${left} failed and was not kept`;
  return `${active} is active: ${what}; ${way}\n`;
}
