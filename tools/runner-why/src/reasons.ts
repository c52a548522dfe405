/** Why an app is in its state, and which commands help. */
import { keptBy, repairsOf } from '@runner/common/apps/next';
import { pauseWords, shownHoldWords, stoppedWords } from '@runner/common/apps/operator';
import { withApprovals } from '@runner/common/apps/plan-words';
import { previewCommand } from '@runner/common/apps/preview';
import { operationWord } from '@runner/common/apps/progress';
import type { AppState } from '@runner/common/apps/state';
import type { StateWord } from '@runner/common/apps/state-word';
import type { AppSummary } from '@runner/common/apps/summary';
import { deployedSince } from '@runner/common/apps/versions';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { verdictOf } from '@runner/deploy/checks/verdict';

/** In sentences, without the failure of a deploy; empty if nothing keeps it from its newest commit, or requests from it. */
export function reasonsOf(app: AppState, shown: AppSummary): string[] {
  const { watched, failures, check_failed: check, held, paused, stopped, instances } = shown;
  const { traffic_hold: hold, deploying, state } = shown;
  const { require_checks: required, checks } = app;
  const unhealthy = instances.flatMap(({ instance, broken, running, stopped: isStopped }) => {
    if (broken) return `${instance} is broken since ${broken.since}: ${broken.reason}`;
    return running === false && !isStopped ? `${instance} is down: runner logs ${shown.app}` : [];
  });
  const isWaiting = required && checks && checks.commit === app.head;
  const verdict = isWaiting ? verdictOf(required, checks) : undefined;
  return [
    ...unhealthy,
    ...(hold ? [shownHoldWords(shown.app, hold)] : []),
    ...(deploying && state === 'interrupted'
      ? [`a ${operationWord(deploying)} was killed during ${deploying.stage}`]
      : []),
    // A hold by the watch says it all.
    ...(isBad(shown) && held?.by !== 'watch'
      ? [`${watched?.version} was judged bad: ${watched?.reason}`]
      : []),
    ...(failures && failures.commit === (app.head ?? failures.commit)
      ? [
          `${failures.commit.slice(0, 12)} failed ${failures.count} of ${shown.max_deploy_retries} times`,
        ]
      : []),
    ...(check ? [`fetch fails since ${check.since}: ${check.message}`] : []),
    ...(verdict && verdict.result !== 'passed' ? [verdict.text] : []),
    ...(held ? [`${held.commit.slice(0, 12)} is on hold: ${held.reason}`] : []),
    ...(paused ? [pauseWords(paused)] : []),
    ...(stopped ? [stoppedWords(stopped)] : []),
    ...shown.jobs.flatMap(({ trouble }) => trouble ?? []),
  ];
}

/** What an operator types in a state, after the cause is fixed. */
const COMMANDS: Partial<Record<StateWord, string>> = {
  blocked: 'deploy',
  failing: 'deploy',
  held: 'deploy',
  new: 'deploy',
  interrupted: 'deploy',
  paused: 'resume',
  stale: 'fetch',
  stopped: 'start',
};

/** At most two commands; `first` belongs to the failure that explains the state: its log, its repair. */
export function commandsFor(paths: Paths, shown: AppSummary, first: string | null): string[] {
  const { app, instances, jobs, preview, migration_left: left, plans } = shown;
  const state = keptBy(shown, shown.state, shown.paused) ?? shown.state;
  const undo = preview && state === 'removed' ? previewCommand('undo', preview) : undefined;
  const command = left ?? undo ?? (COMMANDS[state] && `runner ${COMMANDS[state]} ${app}`);
  return [
    ...(first === null ? [] : [first]),
    ...[...repairsOf(app, instances), ...(command === undefined ? [] : [command])].map((each) =>
      withApprovals(paths, app, plans, each),
    ),
    ...jobs.flatMap(({ job, trouble, missed }) =>
      trouble ? `runner jobs ${missed ? 'run' : 'log'} ${app} ${word(job)}` : [],
    ),
    ...(isBad(shown) ? [`runner watch ${app}`] : []),
  ].slice(0, 2);
}

/** Whether the newest watch ended badly, and nothing was deployed since. */
function isBad({ watched, instances }: AppSummary): boolean {
  return watched?.verdict === 'bad' && deployedSince(instances, watched.at).length === 0;
}

/** After a deploy of a version that was rolled back, and is still the newest: what it does; else empty. */
export function againWords({ app, head, held }: AppState, command: string): string {
  const isAgain = command === `runner deploy ${app}` && held?.commit === head;
  const version = isAgain && held?.rolled_back;
  return version ? `  # deploys ${version} again; push a fix instead` : '';
}
