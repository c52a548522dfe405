import { isOpen, listPlans, type PlannedVerb } from '@runner/common/apps/plans';
import { command } from '@runner/common/cli/command';
import { personOf } from '@runner/common/files/person';
import { EXIT, Failure, invalidValue } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { durationOf } from '@runner/common/text/time';
import {
  type Grant,
  isOfGrant,
  leastApprovals,
  requireProposer,
} from '@runner/deploy/approval/grants';
import { ANSWER_OPTIONS, answersOf } from '@runner/deploy/approval/options';
import { announceWanted } from '@runner/deploy/plan/announce';
import { makePlan } from '@runner/deploy/plan/make';
import { untilInterrupted } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { newPlanView, planText } from '../text.ts';

const DAY = 86_400_000;
/** A plan about a state that old is about another server. */
const LONGEST = 30 * DAY;

const OPTIONS = {
  instance: { placeholder: 'NAME', about: 'Only this instance [default: all]' },
  for: {
    placeholder: 'TIME',
    about: 'How long it can be approved and applied: 30m, 2h, 3d',
    default: '24h',
  },
  wait: {
    placeholder: 'TIME',
    about: 'Wait up to this long for another command of the app to end',
  },
  'no-notify': { about: 'Send no notifications; the audit log is still written' },
} as const;
const OWN = {
  deploy: {
    ref: { placeholder: 'REF', about: "Branch, tag or commit [default: the app's branch]" },
    ...ANSWER_OPTIONS,
  },
  rollback: {
    to: { placeholder: 'VERSION', about: 'Version or commit [default: the previous one]' },
    database: {
      placeholder: 'BACKUP',
      about: 'Bring the database back, too: stops the app and restores this backup',
    },
    'accept-schema': {
      placeholder: 'VERSION',
      about: 'Go back to this version although the database has changed since',
    },
  },
  restart: {},
  start: {},
  stop: { reason: { placeholder: 'TEXT', about: 'Reason, for status and the audit log' } },
  contract: {},
} as const satisfies Record<PlannedVerb, object>;

/** The command that plans a verb. */
export const planning = (verb: PlannedVerb) =>
  command({
    name: verb,
    about: `Show what runner ${verb} would do, and store it for approval`,
    details:
      'The plan is bound to how things are now. runner approve <id> approves it, runner apply <id> does\n' +
      'exactly what it says, or refuses and says what has changed.',
    positionals: { app: { required: true, about: 'Name of the app' } },
    options: { ...OWN[verb], ...OPTIONS },
    exits: [
      [1, 'Refused, or a problem keeps it from being applied'],
      [75, 'A deploy or another command of the app is running; --wait waits for it'],
    ],
    examples: [`runner plan ${verb} shop`],
    async run(context) {
      const { io, paths, args } = context;
      const options: Readonly<Record<string, string | boolean | undefined>> = context.options;
      const text = (name: string) => options[name] as string | undefined;
      const grantName = io.env.RUNNER_GRANT;
      const grant =
        grantName === undefined ? undefined : requireProposer(io.env, grantName, args.app);
      const progress = progressFor(
        { ...context, options: { events: false }, format: 'human' },
        false,
      );
      try {
        const { reporter } = progress;
        if (grant) refuseMany({ io, paths }, grant);
        const request = {
          io,
          paths,
          app: args.app,
          verb,
          reporter,
          ref: text('ref'),
          to: text('to'),
          instance: text('instance'),
          reason: text('reason'),
          database: text('database'),
          acceptSchema: text('accept-schema'),
          ...answersOf(options),
          length: timeOf('for', text('for') ?? '', LONGEST) ?? DAY,
          wait: timeOf('wait', text('wait'), DAY),
          ...(grant
            ? { by: `grant ${grant.name}`, grant: grant.name, least: leastApprovals(grant, verb) }
            : { by: personOf(io) }),
        };
        const stored = await untilInterrupted(io, (signal) => makePlan({ ...request, signal }));
        const isUseless = stored.plan.summary.problems.length > 0;
        if (stored.plan.needs.count > 0 && !isUseless)
          await announceWanted({ io, paths, reporter, notify: !options['no-notify'] }, stored);
        return { value: newPlanView(stored), status: isUseless ? EXIT.failed : EXIT.ok };
      } finally {
        progress.end();
      }
    },
    human: planText,
  });

/** Plans of a grant that may be open at once. */
const OPEN_MAX = 10;

/** Throws `rate_limited`. */
function refuseMany({ io, paths }: Server, grant: Grant): void {
  const open = listPlans(paths).filter(
    (each) => isOfGrant(grant, each.plan) && isOpen(each, io.now()),
  );
  if (open.length >= OPEN_MAX)
    throw new Failure(
      'rate_limited',
      `${OPEN_MAX} plans of the grant '${grant.name}' are open already`,
    );
}

/** In ms. Throws `usage`. */
function timeOf(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const time = durationOf(text.replace(/^(\d{1,3})d$/, (_, days) => `${Number(days) * 24}h`));
  if (time !== undefined && time > 0 && time <= most) return time;
  throw invalidValue(
    text.slice(0, 80),
    `--${name} <TIME>`,
    'it must be a time such as 30m, 2h, 3d, at most 30d',
  );
}
