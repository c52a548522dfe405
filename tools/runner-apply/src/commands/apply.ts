import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { type CommandPlan, isOpen, readPlan } from '@runner/common/apps/plans';
import { findApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { EXIT, Failure, signalStatus } from '@runner/common/foundation/failure';
import { endWords } from '@runner/deploy/approval/admit';
import { recordedEnd } from '@runner/deploy/journal/given-id';

export const apply = command({
  about: 'Do what an approved plan says',
  details:
    'Runs the command that was planned, if nothing that the plan is bound to has changed and it has its\n' +
    'approvals; else each change is one sentence. A plan is applied once: afterwards this says what\n' +
    'became of it. The output and the exit status are those of the command.',
  positionals: { id: { required: true, about: 'Id of the plan', listedBy: 'runner plan list' } },
  exits: [
    [3, 'It failed, and so did its rollback'],
    [75, 'Another command of the app is running'],
  ],
  examples: ['runner apply p-1a2b3c4d'],
  async run({ io, paths, args, format }) {
    const stored = readPlan(paths, args.id);
    const { plan } = stored;
    if (!isOpen(stored, io.now()))
      throw new Failure('plan_ended', becameOf(paths, stored), { plan: plan.id });
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
    return { status: status ?? (signal ? signalStatus(signal) : EXIT.failed) };
  },
});

function argumentsOf({ app, verb, commit, to, instance, reason, ...more }: CommandPlan): string[] {
  const option = (name: string, value: string | null | undefined) =>
    value === null || value === undefined ? [] : [`--${name}=${value}`];
  return [
    ...[app, ...option('instance', instance)],
    ...(verb === 'deploy' ? option('ref', commit) : []),
    ...(verb === 'rollback' ? option('to', to) : ['--wait', '10m']),
    ...option('database', more.database),
    ...option('accept-schema', more.accept_schema),
    ...option('migrated', more.migrated),
    ...(more.accept_rewrite ? ['--accept-rewrite'] : []),
    ...(verb === 'stop' ? option('reason', reason) : []),
  ];
}

/** The end in the log, where a kill left none in the plan. */
function becameOf(
  paths: Parameters<typeof findApp>[0],
  stored: ReturnType<typeof readPlan>,
): string {
  const { plan, applied, ended } = stored;
  const words = endWords(stored);
  if (!applied || ended) return words;
  const isRunning = findApp(paths, plan.app)?.deploying?.deploy_id === applied.deploy_id;
  if (isRunning) return `${words}; it runs, or was killed and the next command cleans up`;
  if (plan.verb !== 'deploy' && plan.verb !== 'rollback') return `${words}; it was interrupted`;
  const kind = plan.verb === 'deploy' ? 'DeploySuccess' : 'RollbackSuccess';
  const end = recordedEnd(paths, plan.app, applied.deploy_id, kind);
  if (!end) return `${words}; it was killed before anything was changed`;
  return `${words}; ${end.isSuccess ? 'it succeeded' : `it failed: ${end.error.split('\n')[0]}`}`;
}
