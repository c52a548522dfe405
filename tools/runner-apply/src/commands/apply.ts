import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { type CommandPlan, isOpen, readPlan } from '@runner/common/apps/plans';
import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { EXIT, Failure, signalStatus } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { type Announcing, announcingChange } from '@runner/deploy/alerts/announce';
import { endWords } from '@runner/deploy/approval/admit';
import { becameOf } from '@runner/deploy/plan/became';

/** What is printed of a plan that was applied before. */
interface AppliedPlan {
  plan: string;
  app: string;
  version: string;
  deploy_id: string;
  /** In words. */
  result: string;
}

export const apply = command({
  about: 'Do what an approved plan says',
  details:
    'Runs the command that was planned, if nothing that the plan is bound to has changed and it has its\n' +
    'approvals; else each change is one sentence. The output and the exit status are those of the command.\n' +
    'A plan is applied once: afterwards this prints the result, and is refused if it failed.',
  positionals: { id: { required: true, about: 'Id of the plan', listedBy: 'runner plan list' } },
  options: {
    announce: { about: 'Announce a refusal: an approval starts this in the background' },
  },
  exits: [
    [3, 'It failed, and so did its rollback'],
    [75, 'Another command of the app has not ended within 10 minutes'],
  ],
  examples: ['runner apply p-1a2b3c4d'],
  async run({ io, paths, args, options, format, note }) {
    const { stored, stands } = becameOf(paths, readPlan(paths, args.id));
    const { plan, applied, ended } = stored;
    const { id, app, version } = plan;
    if (applied && ended?.how === 'done')
      return { value: { plan: id, app, version, deploy_id: applied.deploy_id, result: ended.why } };
    if (!isOpen(stored, io.now())) {
      const more = stands === null ? '' : `; ${stands}`;
      throw new Failure('plan_ended', `${endWords(stored)}${more}`, { plan: id });
    }
    const program = join(dirname(io.program), `runner-${plan.verb}`);
    const given = [
      ...argumentsOf(plan),
      '--plan',
      plan.id,
      '--output',
      format,
      '--root',
      paths.root,
    ];
    const child = spawn(process.execPath, [program, ...given], {
      stdio: 'inherit',
      env: { ...io.env, RUNNER_INITIATOR: plan.by },
    });
    // A terminal sends Ctrl-C to the command itself, too.
    const isSentToBoth = io.stdin.isTTY || io.stderr.isTTY;
    const remove = io.onSignal((signal) => {
      if (signal !== 'SIGINT' || !isSentToBoth) child.kill(signal);
    });
    const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    remove();
    if (signal)
      note(`the ${plan.verb} was killed by ${signal}: the next command of ${app} cleans up`);
    if (options.announce && isOpen(readPlan(paths, id), io.now()))
      await announceRefused({ io, paths, reporter: { note }, notify: true }, plan);
    return { status: status ?? (signal ? signalStatus(signal) : EXIT.failed) };
  },
  human: ({ plan, result }: AppliedPlan) => `${plan} was applied: ${harmlessLine(result)}\n`,
});

/** For an `apply` that the last approval has started: no one sees its output. */
async function announceRefused(announcing: Announcing, { id, app, verb, version }: CommandPlan) {
  const reason = `${id} is approved, but its ${verb} was refused; runner apply ${id} says why`;
  const change = { event_type: 'DeployWaiting', version, plan: id, reason } as const;
  const of = requireApp(announcing.paths, app);
  await announcingChange(announcing, 'apply', (announce) => announce({ app: of, change }));
}

function argumentsOf({ app, verb, commit, to, instance, reason, ...more }: CommandPlan): string[] {
  const option = (name: string, value: string | null | undefined) =>
    value === null || value === undefined ? [] : [`--${name}=${value}`];
  return [
    ...[app, ...option('instance', instance)],
    ...(verb === 'deploy' ? option('ref', commit) : []),
    ...(verb === 'rollback' ? option('to', to) : []),
    '--wait=10m',
    ...option('database', more.database),
    ...option('accept-schema', more.accept_schema),
    ...option('migrated', more.migrated),
    ...(more.accept_rewrite ? ['--accept-rewrite'] : []),
    ...(verb === 'stop' ? option('reason', reason) : []),
  ];
}
