/** The bell's folder: the only files that its user can read or write. */
import { constants, futimesSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HostType } from '@runner/common/config/code-hosts';
import { makeFolder, namesIn, readTextIfThere, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { closing } from '@runner/common/foundation/attempt';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { isAppName } from '@runner/common/foundation/names';
import { Secret } from '@runner/common/secrets/secret';
import { jsonObject } from '@runner/common/text/json';

/** Default; changed by an option or `RUNNER_BELL_DIR`. */
const FOLDER = '/var/lib/runner-bell';
/** Longest file of an app, in bytes. */
const FILE_MAX = 4_096;

/** The option that names the folder. */
export const DIR = {
  placeholder: 'DIR',
  about: 'Folder of the bell [default: $RUNNER_BELL_DIR, else /var/lib/runner-bell]',
} as const;

/** How a host signs a call. */
export type Signer = Exclude<HostType, 'git'>;

/** An app with a bell. */
export interface Bell {
  readonly type: Signer;
  readonly secret: Secret;
  /** ISO 8601. */
  readonly added: string;
}

export interface BellFolder {
  readonly path: string;
  readonly secrets: string;
  /** One file per called app, until a fetch starts. */
  readonly wake: string;
  /** One file per app; its modification time is that of the last call. */
  readonly last: string;
}

export function folderOf(option: string | undefined, env: Env): BellFolder {
  const path = option ?? (env.RUNNER_BELL_DIR || FOLDER);
  const inside = (name: string) => join(path, name);
  return { path, secrets: inside('secrets'), wake: inside('wake'), last: inside('last') };
}

/** Undefined if the app has no bell. */
export function bellOf({ secrets }: BellFolder, app: string): Bell | undefined {
  if (!isAppName(app)) return undefined;
  const path = join(secrets, `${app}.json`);
  const text = readTextIfThere(path, FILE_MAX);
  if (text === undefined) return undefined;
  const { type, secret, added } = jsonObject(text) ?? {};
  if (!isSigner(type) || typeof secret !== 'string' || secret.length < 16)
    throw new Failure('state_malformed', `the file ${path} is damaged: remove the bell and add it`);
  return { type, secret: new Secret(secret), added: String(added ?? '') };
}

/** Words after `--host`. */
export const SIGNERS = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;

function isSigner(type: unknown): type is Signer {
  return SIGNERS.some((each) => each === type);
}

export function appsWithBell({ secrets }: BellFolder): string[] {
  return namesIn(secrets)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter(isAppName)
    .sort();
}

/** In the package's folder, files belong to the group of the bell's user. */
export function writeBell(folder: BellFolder, app: string, { type, secret, added }: Bell): void {
  const path = join(folder.secrets, `${app}.json`);
  try {
    for (const each of [folder.secrets, folder.wake, folder.last]) makeFolder(each);
    writeWhole(path, `${JSON.stringify({ type, secret: secret.reveal(), added })}\n`, 0o640);
  } catch (error) {
    throw systemFailure(error, `write ${path}`);
  }
}

/** Removes an app's bell. Returns whether there was one. */
export function removeBell(folder: BellFolder, app: string): boolean {
  const path = join(folder.secrets, `${app}.json`);
  try {
    const isThere = readTextIfThere(path, FILE_MAX) !== undefined;
    removeIfThere(path);
    for (const each of [folder.wake, folder.last]) removeIfThere(join(each, app));
    return isThere;
  } catch (error) {
    throw systemFailure(error, `remove ${path}`);
  }
}

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** Records a call; a repeated call only changes times. */
export function ring({ wake, last }: BellFolder, app: string, now: Date): void {
  for (const folder of [last, wake]) {
    const fd = openSync(join(folder, app), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o640);
    using _file = closing(fd);
    futimesSync(fd, now, now);
  }
}

/** Time of an app's last call, ISO 8601; null if there was none. */
export function lastRung({ last }: BellFolder, app: string): string | null {
  return statSync(join(last, app), { throwIfNoEntry: false })?.mtime.toISOString() ?? null;
}

/** Removes and returns the recorded calls; the caller must fetch afterwards. */
export function takeRings({ wake }: BellFolder): string[] {
  const names = readdirSync(wake).filter(isAppName);
  for (const name of names) removeIfThere(join(wake, name));
  return names.sort();
}
