/**
 * The output of `start.type: process`, in files of a bounded size. The app writes into a pipe, so that a
 * file can be renamed while it runs; a small shell script beside the app reads it, and ends with the app.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { openBelowInstance } from '@runner/common/apps/instance-folder';
import { readRange } from '@runner/common/files/read';
import { type Folder, inFolder } from '@runner/common/files/tree';
import { systemFailure } from '@runner/common/foundation/failure';

/** Bytes of a file, some more where it is written in one piece. */
const FILE_MAX = 10_485_760;
/** How long to wait for the end of an app's output, in milliseconds; less if what it left holds the pipe open. */
const DRAINED = { held: 500, free: 10_000 };

/**
 * Arguments: the file, its size, and its path for `ps`. It waits for the writer of the app before, which may
 * have some output left, but not for one that keeps running because something holds its pipe. The folder is
 * descriptor 3: a link that the app made, of the folder or in it, is not followed. On a full disk output is
 * thrown away: an app that waits for its output would stop serving.
 */
const WRITER = `umask 027; LC_ALL=C; export LC_ALL; file=$1 max=$2 flags=append,nofollow
dd of=/dev/null oflag=nofollow count=0 2>/dev/null || flags=append
flock -w 5 3
while :; do
  size=$(wc -c 2>/dev/null <"$file") || size=0
  if [ "$size" -ge "$max" ]; then
    { mv -fT "$file.2" "$file.3"; mv -fT "$file.1" "$file.2"; mv -fT "$file" "$file.1"; } 2>/dev/null
    size=0
  fi
  count=$(((max - size) / 4096)); [ "$count" -gt 64 ] || count=64
  if said=$(dd bs=4096 count="$count" of="$file" oflag="$flags" conv=notrunc 2>&1); then
    said=\${said%% records in*}
    [ "$((\${said##*[!0-9+]}))" -eq "$count" ] || exit 0
  else
    case $(dd bs=65536 count=1 of=/dev/null 2>&1) in 0+0*) exit 0 ;; esac
  fi
done`;

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin' };

export type KeptOutput = ReturnType<typeof keepOutput>;

/**
 * Opens the output of an app that is about to start: `into` is where it writes, to be closed once it has started,
 * `file` the file as it was opened. `drained` resolves when all is written that the app has printed before its end,
 * soon if something `isHeld` open by what it has left.
 * Throws what keeps the file from being written.
 */
export function keepOutput(path: string) {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const open = (folder: Folder) =>
    openSync(folder.path(basename(path)), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o640);
  try {
    return inFolder(openBelowInstance(dirname(path)), (folder) => {
      const file = open(folder);
      const close = () => closeSync(file);
      const pipe = openPipe(folder, `${basename(path)}.pipe`);
      // A file system without pipes: the file is written as it is, and grows.
      if (pipe === undefined) return { into: open(folder), file, drained: async () => {}, close };
      const writer = startWriter(folder, path, pipe.from);
      for (const fd of [pipe.both, pipe.from]) closeSync(fd);
      const drained = (isHeld: boolean) => endOf(writer, isHeld);
      return { into: pipe.into, file, drained, close };
    });
  } catch (error) {
    throw systemFailure(error, `write ${path}`);
  }
}

/** Both ends of a pipe, as descriptors that programs can inherit: Node makes sockets. */
function openPipe(folder: Folder, name: string) {
  const { O_NOFOLLOW, O_RDONLY, O_RDWR, O_WRONLY } = constants;
  folder.unlink(name);
  const held = folder.openSelf();
  const made = spawnSync('mkfifo', ['-m', '600', `/proc/self/fd/3/${name}`], {
    env: ENV,
    stdio: ['ignore', 'ignore', 'ignore', held],
  });
  closeSync(held);
  if (made.status !== 0) return undefined;
  // While it is open for both, opening it for one does not wait for the other.
  const [both, from, into] = [O_RDWR, O_RDONLY, O_WRONLY].map((way) =>
    openSync(folder.path(name), way | O_NOFOLLOW),
  ) as [number, number, number];
  folder.unlink(name);
  return { both, from, into };
}

function startWriter(folder: Folder, path: string, from: number): ChildProcess {
  const file = `/proc/self/fd/3/${basename(path)}`;
  const args = ['-c', WRITER, 'runner-output', file, String(FILE_MAX), path];
  const held = folder.openSelf();
  const writer = spawn('/bin/sh', args, {
    cwd: '/',
    env: ENV,
    detached: true,
    stdio: [from, 'ignore', 'ignore', held],
  });
  closeSync(held);
  writer.on('error', () => {});
  writer.unref();
  return writer;
}

function endOf(writer: ChildProcess, isHeld: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (writer.exitCode !== null || writer.signalCode !== null || writer.pid === undefined)
      return resolve();
    const timer = setTimeout(resolve, isHeld ? DRAINED.held : DRAINED.free);
    writer.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * What was written to an open file since it had the size `from`, up to its last `most` bytes. If it is
 * cut, it begins with a whole line: half a secret would not be recognised.
 */
export function endOfFile(fd: number, from: number, most: number): string {
  const { size } = fstatSync(fd);
  const begin = Math.max(from, size - most);
  const text = readRange(fd, begin, Math.max(0, size - begin)).toString('utf8');
  return begin > from ? text.slice(text.indexOf('\n') + 1) : text;
}
