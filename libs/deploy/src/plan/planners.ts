/** What a plan of each verb would do. */

import { isStopped } from '@runner/common/apps/operator';
import type { CommandPlan, PlanSummary } from '@runner/common/apps/plans';
import type { AppState } from '@runner/common/apps/state';
import { approvalRuleOf } from '@runner/common/config/approval';
import { channelsIn } from '@runner/common/config/channels';
import { readConfig } from '@runner/common/config/file';
import { activeChannels, notifySettingsOf } from '@runner/common/config/settings';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { usage } from '@runner/common/foundation/failure';
import type { AdmittedCommand } from '../approval/admit.ts';
import { requireBackup } from '../database/restore.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { startsBeside } from '../instances/place.ts';
import { leaving } from '../journal/after-success.ts';
import { chosenInstances } from '../lifecycle/chosen.ts';
import { refusedFor } from '../lifecycle/verbs.ts';
import { type DeployRequest, networkAdded } from '../pipeline/begin.ts';
import { inspect, refusedNow } from '../pipeline/check.ts';
import { canaryStep } from '../pipeline/plan-steps.ts';
import { goalsOf, planRollback } from '../rollback/plan.ts';
import { metSchemas, repeated } from '../rollback/schema.ts';
import { availableMemory } from '../run/memory.ts';
import { activeCommits, authorsOf, broughtCommits, withAuthors } from './commits.ts';
import { contractMayFollow, requireContract } from './contract.ts';
import { undoOfDeploy, undoOfMoves } from './undo.ts';

/** What is to be planned, and by whom. */
export interface PlanRequest
  extends Pick<DeployRequest, 'io' | 'paths' | 'app' | 'reporter' | 'wait' | 'signal'>,
    Omit<AdmittedCommand, 'plan' | 'emergency' | 'goals'> {
  readonly reason?: string | undefined;
  readonly by: string;
  readonly grant?: string | undefined;
  /** At least this many approvals, whatever config.yml asks for. */
  readonly least?: number;
  /** How long it can be approved and applied, in ms. */
  readonly length: number;
}

/** The part of a plan that depends on its verb. */
type Planned = Pick<CommandPlan, 'commit' | 'version' | 'summary'> &
  Partial<Pick<CommandPlan, 'facts'>> & { readonly authors: readonly string[] | undefined };

async function deployPlan(request: PlanRequest, app: AppState): Promise<Planned> {
  const { instance, paths } = request;
  const { plan, source, file, packages } = await inspect(request, app);
  const { commit, version, warnings } = plan;
  const problems = [...refusedNow(request, app, file), ...plan.problems];
  const active = activeCommits(app, instance);
  const from = active.find((each) => each !== commit) ?? active[0];
  const brought = await broughtCommits(source, from, commit);
  const { notAuthor } = approvalRuleOf(readConfig(paths), app.app);
  const known = notAuthor ? await authorsOf(source, active, commit) : { authors: [], count: null };
  const { migrate } = file;
  const way = migrate?.isFull ? 'a full copy' : 'a copy of the schema';
  const tried = migrate?.isRehearsed
    ? `tried on ${way} first, which says whether there is a way back`
    : 'not tried before';
  const kept = migrate?.backup === undefined ? ', without a backup' : '';
  const moves = plan.instances.map(({ instance: name, current }) => ({
    instance: name,
    from: current,
    to: version,
  }));
  const canStop = refusedFor('stop', '', file) === undefined;
  const shared = common(request, app, file, plan.instances);
  const names = file.instances.map(({ name }) => name);
  const gone = leaving(app, names, { partial: instance !== undefined }).flatMap((name) => {
    const from = app.instances[name]?.current;
    return from ? [{ instance: name, from }] : [];
  });
  const ends = gone.map((each) => ({ ...each, from: each.from.version, to: null }));
  return {
    commit,
    version,
    authors: known ? known.authors : undefined,
    summary: {
      ...shared,
      gap: [shared.gap, ...canaryStep(plan.canary)].join('; '),
      moves: [...moves, ...ends],
      changes: {
        ...withAuthors(brought.changes, known),
        ...packages,
        ...networkAdded({ paths: paths, app }, file),
      },
      ...(plan.signed_by && { signed_by: plan.signed_by }),
      files: brought.files,
      database: migrate ? `runs ${migrate.run}, ${tried}${kept}` : 'not changed',
      contract: contractMayFollow(paths, app, file),
      undo: undoOfDeploy({ paths, app }, plan.instances, { commit, canStop, gone }),
      problems,
      warnings: warnings.filter((each) => !each.startsWith('approval: ')),
    },
  };
}

async function otherPlan(request: PlanRequest, app: AppState): Promise<Planned> {
  const { io, paths, verb, to, instance, database } = request;
  if (database !== undefined && instance !== undefined)
    throw usage('the database is of all instances: leave out --instance');
  const rollback = verb === 'rollback' ? planRollback(paths, app, { to, instance }) : undefined;
  const moves =
    rollback?.moves ??
    chosenInstances(app, instance).map(([name, current]) => ({
      instance: name,
      from: current,
      to: current,
    }));
  const [first] = moves;
  const goal = first?.to;
  const file = goal && fileOfRelease(paths, app.app, goal);
  const met = rollback ? metSchemas({ io, paths, app }, rollback.moves, request) : [];
  const backup = database === undefined ? undefined : requireBackup(paths, app, database);
  const off = moves.filter((each) => isStopped(app, each.instance));
  return {
    commit: goal?.commit ?? null,
    version: goal?.version ?? '',
    authors: [],
    ...(rollback && { facts: goalsOf(rollback) }),
    summary: {
      ...common(request, app, file, moves),
      moves: moves.map((each) => ({
        instance: each.instance,
        from: off.includes(each) ? null : each.from.version,
        to: verb === 'stop' ? null : each.to.version,
      })),
      changes: null,
      files: null,
      ...(verb === 'start' &&
        off.length < moves.length && { gap: 'none: what runs is left as it is' }),
      ...(backup && { gap: 'from the stop of all instances until the new one answers' }),
      database:
        [
          ...(backup
            ? [
                `replaced by its backup ${backup.deploy_id} as of ${backup.at}: what was written since is lost, but for a backup that is made first`,
              ]
            : []),
          ...met.map(({ words }) => words),
        ].join('; ') || 'not changed',
      contract: false,
      undo: backup
        ? 'the command that its answer ends with'
        : undoOfMoves({ paths, app }, verb, moves),
      problems: [
        ...met
          .filter(({ verdict, isAccepted }) => verdict === 'broken' && !isAccepted)
          .map(
            ({ refusal }) =>
              `${refusal}${repeated({ paths, app }, moves, { to, instance, database })}`,
          ),
        ...moves.flatMap(({ instance: name, to: goal }) => {
          const isLife = verb === 'start' || verb === 'stop' || verb === 'restart';
          const own = isLife ? fileOfRelease(paths, app.app, goal) : undefined;
          return (isLife && own && refusedFor(verb, name, own)) || [];
        }),
      ],
      warnings: [],
    },
  };
}

async function contractPlan(request: PlanRequest, app: AppState): Promise<Planned> {
  const { paths } = request;
  const { of, command } = requireContract(paths, app);
  const file = fileOfRelease(paths, app.app, of);
  return {
    commit: of.commit,
    version: of.version,
    authors: [],
    summary: {
      ...common(request, app, file, []),
      gap: 'none: nothing is restarted',
      memory: 'nothing is started',
      moves: [],
      changes: null,
      files: null,
      database: `runs ${command}: what only versions before ${of.version} needed is removed`,
      contract: true,
      undo: file?.migrate?.backup ? 'the line that its answer ends with' : 'no backup is made',
      problems: [],
      warnings: [],
    },
  };
}

/** What each verb would do. Throws what its command would throw before it begins. */
export const PLANNERS = {
  deploy: deployPlan,
  contract: contractPlan,
  rollback: otherPlan,
  restart: otherPlan,
  start: otherPlan,
  stop: otherPlan,
} as const satisfies Record<CommandPlan['verb'], unknown>;

function common(
  { io, paths, verb, database }: PlanRequest,
  app: AppState,
  file: DeployFile | undefined,
  moved: readonly { readonly instance: string }[],
): Pick<PlanSummary, 'gap' | 'memory' | 'notified'> {
  const names = moved.map(({ instance }) => instance);
  const own = file?.instances.filter(({ name }) => names.includes(name)) ?? [];
  const canOverlap = verb !== 'stop' && database === undefined;
  const active = names.filter((name) => app.instances[name]?.current);
  const isOff = active.every((name) => isStopped(app, name));
  const isBeside = canOverlap && !isOff && own.some(startsBeside);
  const free = `${Math.round(availableMemory() / 1_048_576)} MiB are free`;
  const warm = file?.watch && verb === 'deploy' ? ', the old one until its watch ends' : '';
  const gap =
    !file || file.start.type === 'none'
      ? 'none: nothing is started'
      : active.length === 0
        ? 'none: nothing of it runs yet'
        : isOff
          ? `none: it is stopped${verb === 'stop' ? ' already' : ', and this starts it'}`
          : verb === 'stop'
            ? 'until it is started again'
            : isBeside && own.every(startsBeside)
              ? 'none: the new version starts beside the old one'
              : 'from the stop of the old version until the new one answers';
  const channels = activeChannels(notifySettingsOf(readConfig(paths), io.env));
  const chosen = channelsIn(file?.notify ?? 'none');
  const isAnnounced = verb === 'deploy' || verb === 'rollback';
  return {
    gap,
    memory: isBeside
      ? `two versions run beside each other${warm}; ${free}`
      : `one version at a time; ${free}`,
    notified: isAnnounced ? channels.filter((name) => chosen.includes(name)) : [],
  };
}
