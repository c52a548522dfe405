/** What a unit lacks to run an app: the app's secrets, and a user who may enter its releases. */
import { realpathSync } from 'node:fs';
import { readSecrets, secretsFor } from '@runner/common/app-secrets/file';
import type { AppState } from '@runner/common/apps/state';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { orElse, unlessFailure } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { stepEnvironment } from '../run/environment.ts';
import { ask } from './drivers/ask.ts';
import { askUnit, shownOf, unitsOf } from './drivers/unit-state.ts';
import { envFileOf, existingEnvFile } from './env-file.ts';
import { closedAbove, type Identity } from './rights.ts';
import { activeFile } from './target.ts';

const PROPERTIES = 'LoadState,EnvironmentFiles,User,Group,SupplementaryGroups,WorkingDirectory';

/** The units of instances that systemd knows, and their properties by name. */
function loadedUnits({ io }: Pick<Server, 'io'>, { start, instances }: DeployFile) {
  if (start.type !== 'systemd') return [];
  return instances.flatMap((instance) =>
    unitsOf(start.unit, instance).flatMap((unit) => {
      const env = stepEnvironment(io.env);
      const { status, stdout } = askUnit(start, unit, env, 'show', '--property', PROPERTIES);
      const value = shownOf(stdout);
      const isLoaded = status === 0 && value('LoadState') === 'loaded';
      return isLoaded ? [{ instance, unit, shown: stdout, value }] : [];
    }),
  );
}

/** The units of what is active of an app that do not load its secrets. */
export function unreadSecretsOf(server: Server, app: AppState) {
  const file = activeFile(server.paths, app);
  return file ? unreadSecrets(server, app.app, file) : [];
}

/**
 * The units of an app that do not load its secrets: a sentence with the line that is missing, and the command
 * that opens the unit. What only builds use, units need not load.
 */
export function unreadSecrets(server: Server, app: string, file: DeployFile) {
  const { start, build, instances } = file;
  const secrets = unlessFailure(() => readSecrets(server.paths, app)?.secrets, undefined) ?? [];
  if (start.type !== 'systemd' || secrets.length === 0) return [];
  const found = loadedUnits(server, file).flatMap(({ instance, unit, shown }) => {
    const used = secretsFor(secrets, instance.name).filter(({ name }) => !build.env.includes(name));
    const path = used.length === 0 ? undefined : pathOf(server, app, instance);
    if (path === undefined || loadedFiles(shown).includes(realPath(path))) return [];
    const name = instances.length > 1 ? unit : start.unit;
    const words = `${name} does not load the secrets of ${app}: add to its section [Service] the line EnvironmentFile=${path}`;
    return [{ words, fix: `systemctl ${start.user ? '--user ' : ''}edit --full ${word(name)}` }];
  });
  return [...new Map(found.map((each) => [each.words, each])).values()];
}

function loadedFiles(shown: string): string[] {
  const lines = shown.matchAll(/^EnvironmentFiles=(.*) \(ignore_errors=\w+\)$/gm);
  return [...lines].map(([, path = '']) => realPath(path));
}

const realPath = (path: string) => orElse(() => realpathSync(path), path);

/** The file of an instance; undefined without a place in memory. */
function pathOf({ io, paths }: Server, app: string, instance: Instance): string | undefined {
  const env = stepEnvironment(io.env);
  const place = { app, instance, env, paths: paths.app(app).instance(instance.name) };
  return existingEnvFile(place) ?? unlessFailure(() => envFileOf(place), undefined);
}

/** A sentence for each folder that the user of a unit may not enter, with the command that changes it. */
export function closedReleases(server: Server, app: string, file: DeployFile): string[] {
  const { dir, releases } = server.paths.app(app);
  const found = loadedUnits(server, file).flatMap(({ instance, unit, value }) => {
    const [name, work] = [value('User'), value('WorkingDirectory')];
    // What runs elsewhere need not enter the release.
    const isElsewhere = work !== '' && !realPath(work).startsWith(`${realPath(dir)}/`);
    const user = name === '' || isElsewhere ? undefined : identityOf(server, name, value);
    if (user === undefined || user.uid === 0) return [];
    const folders = [server.paths.app(app).instance(instance.name).dir, releases];
    const closed = folders.flatMap((folder) => closedAbove(user, folder));
    return [...new Set(closed)].map((folder) => {
      const isOwn = folder === dir || folder.startsWith(`${dir}/`);
      const rights = isOwn ? `-R -m u:${name}:rX,d:u:${name}:rX` : `-m u:${name}:x`;
      const fix = `setfacl ${rights} ${word(isOwn ? dir : folder)}`;
      return `start: ${name}, the user of ${unit}, may not enter ${folder}: ${fix}`;
    });
  });
  return [...new Set(found)];
}

/** A user with its groups and those that its unit adds; undefined for one that does not exist. */
export function identityOf(
  { io }: Pick<Server, 'io'>,
  name: string,
  value: ReturnType<typeof shownOf>,
): Identity | undefined {
  const env = stepEnvironment(io.env);
  const numbers = (file: string, args: readonly string[], at: RegExp) =>
    [...ask(file, args, { env }).stdout.matchAll(at)].map(([, id]) => Number(id));
  const [uid] = numbers('id', ['-u', '--', name], /(\d+)/g);
  if (uid === undefined) return undefined;
  const named = `${value('Group')} ${value('SupplementaryGroups')}`.split(' ').filter(Boolean);
  const more =
    named.length === 0 ? [] : numbers('getent', ['group', ...named], /^[^:]*:[^:]*:(\d+)/gm);
  return { uid, groups: [...numbers('id', ['-G', '--', name], /(\d+)/g), ...more] };
}
