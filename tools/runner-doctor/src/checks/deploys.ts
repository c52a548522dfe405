/** Leftovers of killed deploys, apps that are no longer deployed, and missing releases. */

import { existsSync, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readJobBook } from '@runner/common/apps/job-book';
import { editFor } from '@runner/common/apps/next';
import { uncheckedWords } from '@runner/common/apps/preview';
import { operationWord } from '@runner/common/apps/progress';
import type { AppState } from '@runner/common/apps/state';
import { listApps, previewNames } from '@runner/common/apps/store';
import { type AppSummary, badRelease, summaryOf } from '@runner/common/apps/summary';
import { isThere, namesIn } from '@runner/common/files/read';
import { failureIn } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { portClashes } from '@runner/deploy/instances/ports';
import { viewOf } from '@runner/deploy/lifecycle/view';
import { type Findings, ok, orOk, problem, problemFrom, warning } from '../foundation/finding.ts';
import { leftovers } from './leftovers.ts';

/** A temporary file that is older was left by a killed command, in milliseconds. */
const STRAY_AGE = 3_600_000;

export async function deploys({ io, paths }: Server): Promise<Findings> {
  const { apps } = listApps(paths);
  // An invalid config.yml is reported by the `config` check.
  const unlimited = { retries: { max: Number.POSITIVE_INFINITY, waits: [] }, now: io.now() };
  const view = await viewOf({ io, paths }, apps).catch(() => unlimited);
  const found = apps.flatMap((app) => {
    const summary = summaryOf(paths, app, view);
    const troubles = summary.jobs.flatMap(({ job, trouble, missed }) => {
      const verb = missed ? 'run' : 'log';
      const fix = `runner jobs ${verb} ${word(app.app)} ${word(job)}`;
      return trouble === null ? [] : [problem(`${app.app}: ${trouble}`, fix)];
    });
    const bad = badRelease(summary);
    if (bad) {
      const verb = summary.instances.some(({ previous }) => previous.length > 0)
        ? 'rollback'
        : 'watch';
      const message = `${app.app} runs ${bad.version}, which was judged bad: ${bad.reason}`;
      troubles.push(problem(message, `runner ${verb} ${app.app}`));
    }
    const unread = failureIn(() => readJobBook(paths, app.app));
    if (unread?.code === 'state_malformed')
      troubles.push(problem(unread.message, `rm ${word(paths.app(app.app).jobs)}`));
    return [
      stateOf(app, summary),
      ...troubles,
      leftovers({ io, paths }, app),
      links(paths, app),
      previewsOf(paths, app),
    ];
  });
  const ports = portClashes(paths, apps).map((clash) =>
    warning(clash.problem, `runner deploy ${clash.app} --check`),
  );
  const strays = [paths.root, paths.stateDir].flatMap((folder) => strayFiles(folder, io.now()));
  if (apps.length === 0 && strays.length === 0) return ok('no app is registered');
  return orOk([...found, ...ports, ...strays], 'no deploy was left unfinished');
}

function stateOf(of: AppState, summary: AppSummary): Findings {
  const { app, state, deploying, failures, instances, next, check_failed: failed } = summary;
  const command = next.slice(next.indexOf('runner '));
  if (state === 'broken') {
    const names = instances.filter(({ broken }) => broken).map(({ instance }) => instance);
    return problem(`${app} is broken: ${names.join(', ')} could not be started again`, command);
  }
  if (state === 'down') {
    const names = instances.filter(({ running, stopped }) => running === false && !stopped);
    const list = names.map(({ instance }) => instance).join(', ');
    return problem(`${app} is not running: ${list}`, command);
  }
  if (state === 'interrupted' && deploying)
    return warning(
      `a ${operationWord(deploying)} of ${app} was killed during ${deploying.stage}: the next deploy cleans up`,
      `runner deploy ${app}`,
    );
  if (state === 'blocked')
    return problem(
      `automatic deploys of ${app} are blocked: the same commit failed ${times(failures?.count ?? 0)}`,
      `runner debug last-error ${app}`,
    );
  if (state === 'stale' && failed)
    return problem(
      `new commits of ${app} have not been deployed since ${failed.since}: ${failed.message}`,
      editFor(of, failed.error) ?? `runner fetch ${app}`,
      { isDenied: failed.error === 'file_unreadable' || failed.error === 'not_writable' },
    );
  return [];
}

/** Its pull requests that cannot be looked for, and previews that cannot be removed or read. */
function previewsOf(paths: Paths, { app, previews }: AppState): Findings {
  const failed = previews?.check_failed;
  const { apps, unreadable } = listApps(paths, previewNames(paths, app));
  const left = apps.flatMap(({ app: name, preview }) =>
    preview?.left ? [`${name} cannot be removed: ${preview.left}`] : [],
  );
  const lost = unreadable.map((each) =>
    problemFrom(each.failure, `rm ${word(paths.state(each.app))}`),
  );
  return [...(failed ? [`${app}: ${uncheckedWords(failed)}`] : []), ...left]
    .map((words) => problem(words, `runner preview sync ${app}`))
    .concat(lost);
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

/** `current` of an instance must point to the release in the state. */
function links(paths: Paths, { app, instances }: AppState): Findings {
  const own = paths.app(app);
  return Object.entries(instances).flatMap(([name, { current }]) => {
    if (current === null) return [];
    const link = own.instance(name).current;
    const back = `runner deploy ${app}`;
    if (!isThere(link))
      return problem(`${link} is missing, but ${current.version} should run`, back);
    if (!existsSync(link)) return problem(`${link} points to a release that does not exist`, back);
    const { dev, ino } = statSync(link);
    const wanted = statSync(own.release(current.release), { throwIfNoEntry: false });
    if (wanted?.dev === dev && wanted.ino === ino) return [];
    return problem(`${link} does not point to ${current.release}, the release in the state`, back);
  });
}

function strayFiles(folder: string, now: Date): Findings {
  return namesIn(folder)
    .filter((name) => /^\..+\.[0-9a-f]{12}\.tmp$/.test(name))
    .map((name) => join(folder, name))
    .filter(
      (path) =>
        now.getTime() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now.getTime()) >
        STRAY_AGE,
    )
    .map((path) => warning(`${path} was left by a killed command`, `rm ${word(path)}`));
}
