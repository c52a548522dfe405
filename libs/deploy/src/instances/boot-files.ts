/** The files with secrets of all units and containers, which a reboot has removed. */
import { noteStarted, noteStarting } from '@runner/common/app-secrets/change';
import { openSecrets, variablesOf } from '@runner/common/app-secrets/open';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { failureIn } from '@runner/common/foundation/attempt';
import type { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { stepEnvironment } from '../run/environment.ts';
import { envFileOf, writeEnvFile } from './env-file.ts';
import { fileOfRelease } from './kept-file.ts';

/** What `runner env files` prints. */
export interface WrittenFiles {
  files: { app: string; instance: string; path: string }[];
  /** Apps whose secrets could not be opened or written. */
  failed: string[];
}

/** Writes the files of all apps. One that fails does not stop the others. */
export function writeBootFiles(place: Server & { note(text: string): void }): WrittenFiles {
  const { apps, unreadable } = listApps(place.paths);
  const written: WrittenFiles = { files: [], failed: [] };
  const fail = (app: string, { message, code }: Failure) => {
    place.note(`${app}: ${message} (${code})`);
    written.failed.push(app);
  };
  for (const { app, failure } of unreadable) fail(app, failure);
  for (const app of apps) {
    const failure = failureIn(() => written.files.push(...writeFilesOf(place, app)));
    if (failure) fail(app.app, failure);
  }
  return written;
}

function writeFilesOf({ io, paths }: Server, { app, instances }: AppState): WrittenFiles['files'] {
  const secrets = openSecrets(paths, io.env, app);
  if (!secrets.file) return [];
  const env = stepEnvironment(io.env);
  const targets = Object.entries(instances).flatMap(([instance, { current }]) => {
    const type = current && fileOfRelease(paths, app, current)?.start.type;
    const own = variablesOf(secrets.today(instance));
    if ((type !== 'systemd' && type !== 'compose') || Object.keys(own).length === 0) return [];
    const folders = paths.app(app).instance(instance);
    return [{ app, instance: { name: instance }, env, secrets: own, paths: folders }];
  });
  if (targets.length === 0) return [];
  for (const target of targets) writeEnvFile(target);
  const names = targets.map(({ instance }) => instance.name);
  // What boots now starts with them.
  noteStarting({ io, paths }, app, names, secrets);
  noteStarted({ io, paths }, app);
  return targets.map((each) => ({ app, instance: each.instance.name, path: envFileOf(each) }));
}
