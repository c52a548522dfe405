/** Folders with a copy of the shim and fake commands, and the shells that the shim must run under. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';

/** The version that stands for the one that the build fills in. */
export const VERSION = '1.2.3-test';

function checkout(): string {
  for (const start of [__dirname, process.cwd()]) {
    for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
      if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return folder;
    }
  }
  throw new Error('the checkout is not above this test or the current folder');
}

/** The shim's source. */
export const source = join(checkout(), 'tools/runner/src/runner');

/** The path of an installed program, or undefined. */
export function installed(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/bin'];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** Whether the test may give files to other users, and must fear them. */
export const isRoot = process.getuid?.() === 0;

/** What one run of the shim left: its status (or signal) and both streams. */
export interface End {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run it: by default `own/runner`, with `outside` and the system on PATH. */
export interface Way {
  readonly program?: string;
  readonly cwd?: string;
  readonly input?: string;
  readonly uid?: number;
  readonly env?: Record<string, string>;
}

/** A folder that is removed after the test; `own` holds the shim, `outside` is on PATH. */
export class Stage {
  readonly root: string;
  readonly own: string;
  readonly outside: string;
  /** A symlink called `sh` to the shell under test. */
  readonly sh: string;

  constructor(shell: string) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'shim-')));
    chmodSync(this.root, 0o755);
    this.own = this.folder('own');
    this.outside = this.folder('outside');
    // The line `#!` takes no path with spaces.
    this.sh = join(temporaryFolder('shell', '/tmp'), 'sh');
    symlinkSync(shell, this.sh);
    this.shim(this.own);
  }

  /** Makes a folder that only its owner can write; its path. */
  folder(name: string): string {
    const path = join(this.root, name);
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    return path;
  }

  /** Copies the shim, for the shell under test, into a folder; the copy's path. */
  shim(folder: string): string {
    const text = readFileSync(source, 'utf8')
      .replace(/^#!\/bin\/sh/, `#!${this.sh}`)
      .replaceAll('@VERSION@', VERSION);
    return this.file(join(folder, 'runner'), text);
  }

  /** Writes a file; its path. */
  file(path: string, text: string, mode = 0o755): string {
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  /** A command that prints its name and its arguments, each in brackets; its path. */
  command(folder: string, name: string, body?: string): string {
    const tell = `printf '%s' '${name} of ${folder.slice(this.root.length + 1)}'; printf '[%s]' "$@"\n`;
    return this.file(join(folder, `runner-${name}`), `#!/bin/sh\n${body ?? tell}`);
  }

  /** What `command` prints when it is run with these arguments. */
  told(name: string, folder: string, args: readonly string[] = ['']): string {
    return `${name} of ${folder}${args.map((each) => `[${each}]`).join('')}`;
  }

  /** Runs the shim. */
  run(args: readonly string[], way: Way = {}): End {
    const end: SpawnSyncReturns<string> = spawnSync(way.program ?? join(this.own, 'runner'), args, {
      cwd: way.cwd ?? this.root,
      input: way.input ?? '',
      encoding: 'utf8',
      timeout: 180_000,
      ...(way.uid === undefined ? {} : { uid: way.uid, gid: way.uid }),
      env: way.env ?? { PATH: `${this.outside}:/usr/bin:/bin` },
    });
    if (end.error !== undefined) throw end.error;
    return { status: end.status, signal: end.signal, stdout: end.stdout, stderr: end.stderr };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const SHELLS = ['dash', 'busybox', 'bash'];

/**
 * Registers a test once for each of the shells; `needs` says what this machine lacks for it, if it
 * lacks something. What cannot run is skipped, and said.
 */
export function everywhere(sentence: string, check: (stage: Stage) => void, needs?: string): void {
  for (const name of SHELLS) {
    const shell = installed(name);
    const lack = shell === undefined ? `${name} is not installed` : needs;
    if (shell === undefined || lack !== undefined) {
      console.log(`skipped (${name}): ${sentence}: ${lack}`);
      test.skip(`${sentence} (${name})`);
      continue;
    }
    test(`${sentence} (${name})`, () => {
      const stage = new Stage(shell);
      try {
        check(stage);
      } finally {
        stage.remove();
      }
    });
  }
}
