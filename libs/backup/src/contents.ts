/** What a backup contains in addition to shared files. */
import { closeSync, fstatSync, lstatSync, realpathSync } from 'node:fs';
import { extname, join } from 'node:path';
import { appNames } from '@runner/common/apps/store';
import { logFiles, openLog } from '@runner/common/audit/files';
import { appendKept } from '@runner/common/audit/kept';
import { withLog } from '@runner/common/audit/write';
import { requireLock } from '@runner/common/files/lock';
import { namesIn, readIfThere, readRange, readTextIfThere } from '@runner/common/files/read';
import { orElse, unlessFailure } from '@runner/common/foundation/attempt';
import { previewedApp } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
import { isKnown, UNKNOWN } from './checks.ts';
import { byteString, type TarEntry } from './tar.ts';

const BLOCK = 262_144;
/** Bytes of a configuration, key or state file. */
const SMALL_MAX = 67_108_864;
/** Folders in which systemd looks for units of apps. */
const UNIT_FOLDERS = ['/etc/systemd/system', '/etc/systemd/user'];
const UNIT_LIST = '/etc/runner/units';
/**
 * The list of units, public keys, grants of agents, and what `runner setup` made for each app. Other files may be
 * of that installation, or a master key that is kept apart from backups.
 */
const SETTINGS: [folder: string, names: RegExp][] = [
  ['/etc/runner', /^(?:units|agent_keys|allowed_signers|approvers|commit_signers)(?:\.|$)/],
  ['/etc/runner/grants', /^[^.]/],
  ['/etc/runner/setup', /^[^.]/],
];
const UNREADABLE = 'it cannot be read';

/** Gets what a backup cannot save, and why. */
export type LeaveOut = (path: string, why: string) => void;

/** An entry with its bytes. */
export interface EntryContent {
  readonly entry: TarEntry;
  bytes(): Iterable<Uint8Array>;
}

/**
 * The files that must be consistent with each other, read under the locks of the registry and the audit
 * log. The log is only opened, and read later. Throws `locked`, `audit_busy`, `file_unreadable`.
 */
export function coreOf(paths: Paths, leaveOut: LeaveOut): EntryContent[] {
  using _lock = requireLock(paths.registryLock, 'the registry', 10, { pid: process.pid });
  appendKept(paths);
  const found = ['state', 'secrets', 'spool/audit'].flatMap((folder) =>
    namesIn(join(paths.root, folder))
      .filter((name) => /^[^.].*\.jsonl?$/.test(name) && !isOfPreview(name))
      .map((name) => `${folder}/${name}`),
  );
  const names = found.filter((name) => isKnown(byteString(name)));
  for (const name of found.filter((each) => !names.includes(each))) leaveOut(name, UNKNOWN);
  const books = appNames(paths).map((app) => paths.app(app).jobs.slice(paths.root.length + 1));
  const files = ['config.yml', 'mkey', ...names, ...books].flatMap((name) =>
    small(join(paths.root, name), name),
  );
  return [...files, ...withLog(paths, () => logContents(paths))];
}

/** They are made again from the code host, and have none of the app's data. */
const isOfPreview = (name: string) => previewedApp(name.replace(/\.json$/, '')) !== undefined;

function small(path: string, name: string): EntryContent[] {
  const bytes = readIfThere(path, SMALL_MAX);
  if (!bytes) return [];
  const { mode, mtimeMs } = lstatSync(path);
  const about = { mode: mode & 0o7777, mtime: mtimeMs / 1000, owner: '', target: '' };
  const entry = {
    path: byteString(name),
    type: 'file' as const,
    size: bytes.length,
    ...about,
  };
  return [{ entry, bytes: () => [bytes] }];
}

function logContents(paths: Paths): EntryContent[] {
  return logFiles(paths).flatMap((path) => {
    const fd = openLog(path);
    if (fd === undefined) return [];
    const { mode, mtimeMs, size } = fstatSync(fd);
    const about = { mode: mode & 0o7777, mtime: mtimeMs / 1000, size, owner: '', target: '' };
    const entry = { path: path.slice(paths.root.length + 1), type: 'file' as const, ...about };
    return [{ entry, bytes: () => closing(fd, rangeOf(fd, size)) }];
  });
}

function* closing(fd: number, bytes: Iterable<Uint8Array>): Generator<Uint8Array> {
  try {
    yield* bytes;
  } finally {
    closeSync(fd);
  }
}

/** Exactly `size` bytes, padded with zeros if the file was truncated meanwhile. */
export function* rangeOf(fd: number, size: number): Generator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const length = Math.min(BLOCK, size - position);
    const bytes = readRange(fd, position, length);
    yield bytes.length === 0 ? Buffer.alloc(length) : bytes;
    position += bytes.length || length;
  }
}

/** Files of a listed unit: its own and, for an instance, that of its template. */
const filesOfUnit = (unit: string) => [unit, unit.replace(/@[^/]*(\.[a-z]+)$/, '@$1')];

/** The units of the apps, drop-ins for runner's own, and the settings of `/etc/runner`, below `units/`. */
export function unitsOf(leaveOut: LeaveOut): EntryContent[] {
  const lines = (readTextIfThere(UNIT_LIST, SMALL_MAX) ?? '').split('\n');
  const listed = lines.map((line) => line.trim()).filter((line) => line && !line.startsWith('#'));
  const wanted = new Set(listed.flatMap(filesOfUnit));
  const isOurs = (name: string) =>
    wanted.has(name.replace(/\.d$/, '')) || /^runner-.*\.d$/.test(name);
  const found = UNIT_FOLDERS.flatMap((folder) =>
    namesIn(folder)
      .filter(isOurs)
      .map((name) => ({ name, path: join(folder, name) })),
  );
  const there = new Set(found.map(({ name }) => name));
  for (const unit of listed.filter((each) => !filesOfUnit(each).some((name) => there.has(name))))
    leaveOut(unit, `the unit is not in ${UNIT_FOLDERS.join(' or ')}`);
  const files = found.flatMap(({ name, path }) =>
    name.endsWith('.d') ? namesIn(path).map((each) => join(path, each)) : [path],
  );
  const settings = SETTINGS.flatMap(([folder, names]) => {
    const inside = unlessFailure(() => namesIn(folder), undefined);
    if (!inside) leaveOut(folder, UNREADABLE);
    return (inside ?? []).filter((name) => names.test(name)).map((name) => join(folder, name));
  });
  return [...settings, ...files].flatMap((file) => {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    const isLink = stat?.isSymbolicLink() === true;
    if (!isLink && !stat?.isFile()) return [];
    const saved = isLink ? linkedUnit(file) : unlessFailure(() => small(file, `units${file}`), []);
    const why = isLink ? 'it is a link, but not to a unit file that can be read' : UNREADABLE;
    if (saved.length === 0) leaveOut(file, why);
    return saved;
  });
}

/** What `systemctl link` has made, as the file that it leads to; a link to anything else may lead to a secret. */
function linkedUnit(link: string): EntryContent[] {
  const [file, suffix] = [orElse(() => realpathSync(link), link), extname(link)];
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile();
  const isUnit = isFile && suffix !== '' && extname(file) === suffix;
  return isUnit ? unlessFailure(() => small(file, `units${link}`), []) : [];
}
