import { type Context, command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import type { OrderVerb } from '@runner/fleet/order/order';
import { withFleet } from '../rollout/connect.ts';
import { drive, type RolloutSummary } from '../rollout/drive.ts';
import { lineText, NO_ANSWER, type ServerLine } from '../rollout/line.ts';
import { makePlan, type OrderOptions, type PlanLine, planWords } from '../rollout/plan.ts';
import { ACCEPT_SCHEMA, KEY, ON } from './plumbing.ts';

const REASON = {
  placeholder: 'TEXT',
  about: 'Reason, recorded in the order',
} as const;
const WAIT = {
  placeholder: 'TIME',
  about: 'How long to wait for the results of a batch',
} as const;

export const ROLLOUT = {
  on: ON,
  canary: { placeholder: 'N', about: 'Servers in the first batch [default: 1]' },
  'max-parallel': {
    placeholder: 'N',
    about: 'Servers in each further batch [default: 1]',
  },
  'max-failures': {
    placeholder: 'N',
    about: 'Continue after up to this many failures [default: 0]',
  },
  offline: {
    placeholder: 'POLICY',
    choices: ['stop', 'wait', 'skip'],
    about: 'If a server does not answer: change nothing, queue the order for it, or leave it out',
    default: 'stop',
  },
  deadline: {
    placeholder: 'TIME',
    about: 'Start within this time, at most 7d [default: 15m]',
  },
  wait: { ...WAIT, about: `${WAIT.about} [default: the deadline plus a minute]` },
  plan: { about: 'Only show the plan' },
  yes: { about: 'Do not ask on a terminal' },
  key: KEY,
  reason: REASON,
} as const;

export const EXITS = [
  [3, 'The rollback failed too on at least one server'],
  [NO_ANSWER, 'Some servers have not answered: their orders wait until the deadline'],
  [75, 'Another rollout of the app is running'],
  [130, 'Interrupted: no further batch is ordered, running deploys continue'],
] as const;

const APP = { app: { required: true, about: 'Name of the app' } } as const;

/** Plans a rollout and carries it out; `status` is the exit status. */
async function carry(
  context: Context & { args: { app: string }; options: OrderOptions },
  verb: OrderVerb,
  ref?: string,
) {
  return withFleet(context, async (broker) => {
    const { args, options } = context;
    const plan = await makePlan(context, broker, { verb, app: args.app, ref }, options);
    return { status: plan ? await drive(context, broker, plan) : 0 };
  });
}

/** A line of a rollout as text. */
export function rolloutText(line: PlanLine | ServerLine | RolloutSummary, style: Style): string {
  if ('batches' in line) return planText(line, style);
  if ('server' in line) return lineText(line, style);
  const { rollout, result, done, failed, not_ordered: not, no_answer: none } = line;
  const parts = [
    `${done} done`,
    `${line.not_judged} of them not judged by the watch`,
    `${failed} failed`,
    `${none} without an answer`,
    `${not} not ordered`,
  ];
  const text = `${harmlessLine(rollout)} ${result}: ${parts.filter((part) => !part.startsWith('0 ')).join(', ')}\n`;
  if (result === 'done') return line.not_judged > 0 ? style.yellow(text) : style.green(text);
  const verbs = line.resumable ? ['results', 'resume'] : ['results'];
  return `${text}Next steps:\n${verbs.map((verb) => `  runner fleet ${verb} ${rollout}\n`).join('')}`;
}

function planText(line: PlanLine, style: Style): string {
  const app = harmlessLine(line.app);
  if (line.batches.flat().length + line.absent.length === 0) return `${app}: nothing to do\n`;
  const id = line.rollout === null ? '' : ` [${harmlessLine(line.rollout)}]`;
  return `${style.bold(`${line.verb} ${app}`)}${planWords(line)}${id}\n`;
}

export const deploy = command({
  name: 'deploy',
  about: 'Deploy the same commit of an app on several servers',
  details:
    "Asks the servers for the branch's commit and deploys it: first on the canary, then in batches.\n" +
    'The rollout stops when more than --max-failures servers fail. One signature and one --deadline cover\n' +
    'the whole rollout.',
  positionals: APP,
  options: {
    ...ROLLOUT,
    ref: {
      placeholder: 'REF',
      about: "Branch, tag or commit [default: the app's branch]",
    },
    behind: { about: 'Only servers that run another commit' },
  },
  exits: EXITS,
  run: (context) => carry(context, 'deploy', context.options.ref),
  human: rolloutText,
});

export const rollback = command({
  name: 'rollback',
  about: 'Roll back to the previous version on several servers',
  positionals: APP,
  options: {
    ...ROLLOUT,
    to: {
      placeholder: 'VERSION',
      about: 'Version to roll back to [default: the previous one]',
    },
    'accept-schema': ACCEPT_SCHEMA,
  },
  exits: EXITS,
  run: (context) => carry(context, 'rollback', context.options.to),
  human: rolloutText,
});

const HOLD_OPTIONS = {
  on: ON,
  offline: { ...ROLLOUT.offline, default: 'wait' },
  deadline: ROLLOUT.deadline,
  wait: { ...WAIT, default: '10s' },
  key: KEY,
  reason: REASON,
} as const;

const holding = (verb: 'hold' | 'unhold', about: string) =>
  command({
    name: verb,
    about,
    positionals: APP,
    options: HOLD_OPTIONS,
    exits: EXITS,
    run: (context) => carry(context, verb),
    human: rolloutText,
  });

export const approve = command({
  name: 'approve',
  about: 'Approve a plan on several servers',
  details: 'Counts as the approval of who signs the order, if config.yml of the server lists them.',
  positionals: {
    ...APP,
    plan: { required: true, about: 'Id of the plan, as runner fleet deploy shows it' },
  },
  options: HOLD_OPTIONS,
  exits: EXITS,
  run: (context) => carry(context, 'approve', context.args.plan),
  human: rolloutText,
});

export const hold = holding('hold', 'Pause the deploys of an app on several servers');
export const unhold = holding('unhold', 'Resume the deploys of an app on several servers');
