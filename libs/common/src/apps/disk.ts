/** The disk space of an app. du(1) counts faster than a walk in this process, and can be ended. */
import { statfsSync } from 'node:fs';
import { folderNamesIn, isThere } from '../files/read.ts';
import type { Paths } from '../foundation/paths.ts';

export const DISK_PARTS = ['releases', 'mirror', 'shared', 'logs', 'home', 'database'] as const;
type DiskPart = (typeof DISK_PARTS)[number];

/** Bytes on the disk; null: not counted in time. */
export type Disk = Record<DiskPart | 'total', number | null>;

/** Counts for up to `timeout` milliseconds, without other file systems mounted inside. */
export function diskOf(paths: Paths, app: string, timeout: number): Disk {
  const own = paths.app(app);
  const instances = folderNamesIn(own.instances).map((name) => own.instance(name));
  const folders = {
    releases: [own.releases],
    mirror: [own.repo],
    shared: instances.map(({ shared }) => shared),
    logs: [paths.deployLogs(app), ...instances.map(({ run }) => run)],
    home: [own.home],
    database: [own.databaseBackups],
  };
  const sizes = sizesOf(Object.values(folders).flat(), timeout);
  const sum = (part: DiskPart) => total(folders[part].map((path) => sizes.get(path) ?? null));
  const parts = Object.fromEntries(DISK_PARTS.map((part) => [part, sum(part)]));
  return { ...(parts as Disk), total: total(Object.values(parts)) };
}

/** Whether files have another device than their folder, as in containers: `du -x` would leave them out. */
const isOverlay = (path: string) => statfsSync(path).type === 0x794c7630;

/** null if one of them is. */
function total(sizes: readonly (number | null)[]): number | null {
  return sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0);
}

/** Bytes of each path; what does not exist has 0, what was not counted in time is absent. */
export function sizesOf(paths: readonly string[], timeout: number): ReadonlyMap<string, number> {
  const there = paths.filter(isThere);
  const sizes = new Map(paths.map((path) => [path, 0]));
  if (there.length === 0) return sizes;
  for (const path of there) sizes.delete(path);
  // Slow to load, and most commands count nothing.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { stdout } = spawnSync('du', [there.some(isOverlay) ? '-sk' : '-skx', '--', ...there], {
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  });
  for (const line of (stdout ?? '').split('\n')) {
    const at = line.indexOf('\t');
    if (at > 0) sizes.set(line.slice(at + 1), Number(line.slice(0, at)) * 1024);
  }
  return sizes;
}
