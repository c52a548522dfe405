/** What takes a planned command back: it is about the instances that the command changes, and no others. */
import { isStopped } from '@runner/common/apps/operator';
import { withApprovals } from '@runner/common/apps/plan-words';
import type { PlannedVerb } from '@runner/common/apps/plans';
import { word } from '@runner/common/text/shell';
import type { MigratedApp } from '../database/way-back.ts';
import { isRestorable } from '../instances/kept-file.ts';
import { isRestart, type KeptMove } from '../journal/after-rollback.ts';
import { commandsFor, undoWords } from '../rollback/met.ts';

const SAME = 'none: each instance has the same commit before and after';

interface DeployGoal {
  readonly commit: string;
  readonly canStop: boolean;
  /** Instances that leave `.deploy.yml`. */
  readonly gone: readonly Pick<KeptMove, 'instance' | 'from'>[];
}

/** What `runner deploy` of a commit started and moved is stopped and rolled back, and what left it is deployed. */
export function undoOfDeploy(
  own: MigratedApp,
  chosen: readonly { readonly instance: string }[],
  { commit, canStop, gone }: DeployGoal,
): string {
  const { app, paths } = own;
  const names = chosen.map(({ instance }) => instance);
  const active = (name: string) => app.instances[name]?.current;
  const moves = names.flatMap((instance) => {
    const to = active(instance);
    return to && to.commit !== commit ? [{ instance, from: { ...to, release: '' }, to }] : [];
  });
  const kept = moves.filter(({ to }) => isRestorable(paths, app.app, to));
  const isStuck = !canStop && names.some((name) => !active(name));
  if (kept.length < moves.length || isStuck) return 'no earlier version is kept';
  const started = names.filter((name) => !active(name) || isStopped(app, name));
  const back = kept.length > 0 ? [undoWords(own, kept)] : [];
  const name = word(app.app);
  const again = gone.flatMap(({ instance, from }) => {
    const where = `--instance ${word(instance)}`;
    const deploy = `runner deploy ${name} --ref ${from.commit} ${where}`;
    return isStopped(app, instance) ? [deploy, `runner stop ${name} ${where}`] : [deploy];
  });
  return typed(own, [...back, ...commandsFor(app, started, 'stop'), ...again]);
}

/** The same of a command that goes to releases which are there. */
export function undoOfMoves(
  own: MigratedApp,
  verb: PlannedVerb,
  moves: readonly KeptMove[],
): string {
  const { app } = own;
  const names = moves.map(({ instance }) => instance);
  const off = names.filter((name) => isStopped(app, name));
  if (verb === 'stop') {
    const running = names.filter((name) => !off.includes(name));
    if (running.length === 0) return 'none: it is stopped already';
    return typed(own, commandsFor(app, running, 'start'));
  }
  const left = moves.filter((move) => !isRestart(move));
  const back = [...new Set(left.map(({ from }) => from.commit))].flatMap((commit) => {
    const of = left.filter(({ from }) => from.commit === commit);
    const where = of.map(({ instance }) => instance);
    return commandsFor(app, where, 'deploy', ` --ref ${commit}`);
  });
  return typed(own, [...back, ...commandsFor(app, off, 'stop')]);
}

/** What is refused without a plan is planned. */
function typed({ paths, app }: MigratedApp, commands: readonly string[]): string {
  return commands.length === 0 ? SAME : withApprovals(paths, app.app, [], commands.join('; '));
}
