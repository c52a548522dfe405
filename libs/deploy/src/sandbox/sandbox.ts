/** The sandbox: bubblewrap around every command that a repository decides. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '@runner/common/config/file';
import {
  type SandboxMode,
  type SandboxSetting,
  sandboxSettingOf,
} from '@runner/common/config/sandbox';
import { makeFolder } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { previewedApp } from '@runner/common/foundation/names';
import { effectOf } from './effect.ts';
import { afterLaunch, launcher, type NetworkGuard } from './guarded.ts';
import { keepCaches } from './home.ts';
import {
  allowedPaths,
  type Confined,
  type Folders,
  mountsFor,
  type Profile,
  scratchIn,
} from './mounts.ts';
import { bubblewrap } from './probe.ts';
import { marksIn, openSettings, type Variables } from './settings.ts';

/** A program and its arguments. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

/** A program, where it runs, and its environment. */
export interface ProgramCall extends Program {
  readonly cwd: string;
  readonly env: Variables;
}

export interface Confinement {
  /** `settings` has to be descriptor 3 of the process; close it after the start. Throws `not_writable`. */
  wrap(command: ProgramCall): ProgramCall & { readonly settings: number };
  /** Has to carry the network of the process; undefined if nothing does. */
  readonly guard?: NetworkGuard | undefined;
  /** What the sandbox does that the output of a failed command may be about; undefined if nothing. */
  explain(output: string): string | undefined;
}

interface SandboxRequest extends Confined {
  /** Is called once if a command runs without the sandbox although config.yml does not say so. */
  note?(text: string): void;
}

const MODES: readonly (string | undefined)[] = ['auto', 'required', 'off'];

/** The mode where config.yml has none: RUNNER_SANDBOX, else `auto`. */
export function modeIn({ RUNNER_SANDBOX: chosen }: Env): SandboxMode {
  return MODES.includes(chosen) ? (chosen as SandboxMode) : 'auto';
}

/** What config.yml says of the sandbox of an app. Throws `config_invalid`. */
export function settingOf({ paths, env, app }: Pick<Confined, 'paths' | 'env' | 'app'>) {
  return sandboxSettingOf(readConfig(paths), app, modeIn(env));
}

/** Throws `sandbox_unavailable` if config.yml requires a sandbox and there is none, `config_invalid`. */
export function openSandbox(request: SandboxRequest): Sandbox {
  return new Sandbox(request, settingOf(request));
}

/** The same for commands that must work with a config.yml that cannot be read. */
export function openSandboxAnyway(request: SandboxRequest): Sandbox {
  try {
    return openSandbox(request);
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'sandbox_unavailable') throw error;
    const mode = previewedApp(request.app) === undefined ? 'auto' : 'required';
    return new Sandbox(request, { mode, allow: [] });
  }
}

/** The sandbox of an app. */
export class Sandbox {
  readonly #request: SandboxRequest;
  readonly #setting: SandboxSetting;
  #scratch: string | undefined;
  #isNoted = false;

  constructor(request: SandboxRequest, setting: SandboxSetting) {
    this.#request = request;
    this.#setting = { ...setting, allow: allowedPaths(request, setting.allow) };
    if (setting.mode === 'required') this.#program();
  }

  /**
   * How a command is confined; undefined where it is not. Throws `sandbox_unavailable` if its network is
   * to be limited there.
   */
  confine(profile: Profile, folders: Folders): Confinement | undefined {
    const program = this.#program();
    if (program === undefined) {
      if (folders.network === undefined || folders.network === true) return undefined;
      throw new Failure('sandbox_unavailable', noLimitWords(this.#setting.mode));
    }
    if (profile === 'build') makeFolder(folders.shared);
    const { allow } = this.#setting;
    const subject = { ...this.#request, allow, scratch: () => this.#scratchOf(), program };
    const mounts = mountsFor(profile, subject, folders);
    const guard = typeof folders.network === 'object' ? folders.network : undefined;
    const launch = guard && launcher(program, guard);
    return {
      wrap: ({ file, args, cwd, env }) => {
        const later = launch && afterLaunch({ ...env, ...launch.env });
        return {
          file: program,
          args: [
            ...['--args', '3', ...mounts, '--chdir', cwd, '--'],
            ...[...(launch?.words ?? []), ...(later?.words ?? []), file, ...args],
          ],
          cwd,
          env: marksIn(env),
          settings: openSettings(later?.env ?? env, this.#request.env),
        };
      },
      guard,
      explain: effectOf,
    };
  }

  /** Keeps the caches of the builds, and removes with `remove` what they had as /tmp and HOME. */
  close(remove: (path: string) => void): void {
    const folder = this.#scratch;
    if (folder === undefined) return;
    const { paths, app } = this.#request;
    keepCaches(scratchIn(folder).home, paths.app(app).home);
    remove(folder);
    this.#scratch = undefined;
  }

  /** Why the app's commands run without a sandbox, and what changes it; undefined if they do not, or as configured. */
  get lack(): string | undefined {
    if (this.#setting.mode !== 'auto') return undefined;
    const found = bubblewrap(this.#request.env);
    return 'program' in found ? undefined : `${found.problem}: ${found.fix}`;
  }

  /** Path of bubblewrap; undefined where commands run without it. */
  #program(): string | undefined {
    const { mode } = this.#setting;
    if (mode === 'off') return undefined;
    const found = bubblewrap(this.#request.env);
    if ('program' in found) return found.program;
    if (mode === 'required')
      throw new Failure(
        'sandbox_unavailable',
        `config.yml requires a sandbox, and ${found.problem}; install bubblewrap, or see: runner doctor --sandbox`,
      );
    if (!this.#isNoted) this.#request.note?.(`no sandbox: ${found.problem}`);
    this.#isNoted = true;
    return undefined;
  }

  /** Beside unfinished releases: on the disk that has room for them, and removed after a kill as they are. */
  #scratchOf() {
    const { paths, app } = this.#request;
    if (this.#scratch === undefined) {
      this.#scratch = mkdtempSync(join(paths.app(app).releases, '.tmp-scratch-'));
      for (const each of Object.values(scratchIn(this.#scratch))) mkdirSync(each);
    }
    return scratchIn(this.#scratch);
  }
}

/** Why the network of commands cannot be limited where they run without a sandbox. */
export function noLimitWords(mode: SandboxMode): string {
  const why =
    mode === 'off' ? 'is switched off in config.yml or by RUNNER_SANDBOX' : 'does not work';
  return `the network cannot be limited here: the sandbox ${why}`;
}
