/**
 * An app that exchanges folders for links while a command walks them, and a folder outside of its reach
 * that must not be touched meanwhile.
 */
import { spawn, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, type Stats, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from './cleanup.ts';
import { pathsBelow, temporaryFolder, tree } from './temp.ts';

/** A folder and a link beside it that take each other's place. */
export interface Exchanged {
  readonly folder: string;
  readonly link: string;
  /** Where the link leads. */
  readonly target: string;
}

/** Makes what a removal has taken away again; ends after a minute in any case. */
const SOURCE = String.raw`
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static volatile sig_atomic_t done;
static void stop(int signal) { done = 1; }
int main(int count, char **args) {
  long exchanges = 0;
  int pause = atoi(args[1]);
  signal(SIGTERM, stop); signal(SIGALRM, stop); alarm(60);
  for (int i = 2; !done; i = i + 3 < count ? i + 3 : 2) {
    if (renameat2(AT_FDCWD, args[i], AT_FDCWD, args[i + 1], RENAME_EXCHANGE) == 0) exchanges++;
    else { mkdir(args[i], 0755); symlink(args[i + 2], args[i + 1]); }
    if (pause) usleep(pause);
  }
  printf("%ld\n", exchanges);
  return 0;
}
`;

/** The same, less often, where there is no compiler. */
const SCRIPT = `const fs = require('node:fs');
const [pause, ...args] = process.argv.slice(1);
let done = false, exchanges = 0, i = 0;
process.on('SIGTERM', () => { done = true; });
setTimeout(() => { done = true; }, 60_000);
(function turn() {
  if (done) { console.log(exchanges); process.exit(); }
  for (let n = 0; n < 100; n += 1, i = (i + 3) % args.length) {
    const [folder, link, target] = args.slice(i, i + 3);
    try {
      fs.renameSync(folder, folder + '.x'); fs.renameSync(link, folder); fs.renameSync(folder + '.x', link);
      exchanges += 1;
    } catch {
      try { fs.mkdirSync(folder); } catch {}
      try { fs.symlinkSync(target, link); } catch {}
    }
  }
  setTimeout(turn, Number(pause) / 1000);
})();`;

let program: readonly string[] | undefined;

function compiled(): readonly string[] {
  const folder = temporaryFolder('exchange');
  const [source, binary] = [join(folder, 'exchange.c'), join(folder, 'exchange')];
  writeFileSync(source, SOURCE);
  const { status } = spawnSync('cc', ['-O1', '-w', '-o', binary, source]);
  return status === 0 ? [binary] : [process.execPath, '-e', SCRIPT];
}

/** Exchanges until `stop`, which resolves how often; `pause` is in microseconds. */
export function exchanging(pairs: readonly Exchanged[], pause = 0): { stop(): Promise<number> } {
  program ??= compiled();
  const [file, ...first] = program as [string, ...string[]];
  const args = pairs.flatMap(({ folder, link, target }) => [folder, link, target]);
  const child = spawn(file, [...first, String(pause), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atExit(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return {
    async stop() {
      child.kill('SIGTERM');
      await closed;
      return Number(printed);
    },
  };
}

/** A folder whose files and times show whether anything was read, written or made in it. */
export class Canary {
  readonly folder: string;
  readonly #paths: readonly string[];
  readonly #before: string;

  /** Has a file of each of these names, which the attacked tree has too. */
  constructor(names: readonly string[], folder = temporaryFolder('canary')) {
    this.folder = folder;
    for (const name of names) writeFileSync(join(folder, name), `outside ${name}`);
    mkdirSync(join(folder, 'inner'));
    writeFileSync(join(folder, 'inner/file'), 'outside inner');
    this.#paths = ['.', ...pathsBelow(folder)];
    // A time of access before that of the last change is set by every read.
    for (const path of this.#paths) utimesSync(join(folder, path), 1_000_000, 2_000_000);
    this.#before = this.#seen();
  }

  /** What it was and what it has become; empty if nothing was touched. */
  changes(): string {
    const now = this.#seen();
    return now === this.#before ? '' : `${this.#before}\nbecame\n${now}`;
  }

  /** Looks at the times before it reads, and sets them back. */
  #seen(): string {
    const all = this.#paths.map((path) => join(this.folder, path));
    const stats = all.map((path) => lstatSync(path, { throwIfNoEntry: false }));
    // Another program may list folders meanwhile, such as one that looks for old files.
    const read = (stat?: Stats) => (stat?.isFile() ? stat.atimeMs : 0);
    const times = stats.map((stat) => [stat?.mode, stat?.uid, read(stat), stat?.mtimeMs]);
    const contents = JSON.stringify(tree(this.folder));
    for (const [at, path] of all.entries()) {
      const stat = stats[at];
      if (stat) utimesSync(path, stat.atime, stat.mtime);
    }
    return `${times.join('\n')}\n${contents}`;
  }
}
