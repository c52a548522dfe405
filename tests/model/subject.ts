/** A real app to which steps are done: its code host, root, executables and clock. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployed } from '@runner/common/apps/deployed';
import type { AppState } from '@runner/common/apps/state';
import type { AppSummary } from '@runner/common/apps/summary';
import { page } from '@runner/testing/app';
import type { GitServer } from '@runner/testing/git-server';
import { runKilled } from '@runner/testing/killing';
import { type Process, processesIn } from '@runner/testing/processes';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { shiftedClock } from './clock.ts';
import type { Commit } from './rules.ts';
import { type Driver, filesOf, type Ports } from './sample-app.ts';
import type { Step } from './steps.ts';

export const TOKEN = `ghp_m0del${String(process.pid).padStart(31, 'm0del')}`;

export type LogLine = Readonly<Record<string, unknown>>;

/** What can be seen of an app from outside. */
export interface Observed {
  /** What each instance answers; null: nothing listens. */
  readonly served: Readonly<Record<string, string | null>>;
  /** The version in the folder that `current` of each instance leads to. */
  readonly linked: Readonly<Record<string, string | null>>;
  readonly listed: AppSummary;
  readonly state: AppState;
  readonly log: readonly LogLine[];
  /** Versions of the release folders that are kept; null: the folder is gone. */
  readonly kept: ReadonlyMap<string, string | null>;
  readonly unfinished: readonly string[];
}

export interface Subject {
  readonly repo: string;
  readonly root: string;
  /** Does a step; resolves what the command answered in one word, and what it printed. */
  perform(step: Step): Promise<{ answer: string; printed: string }>;
  observe(): Promise<Observed>;
  /** Whether a killed deploy waits to be cleaned up. */
  isInterrupted(): boolean;
  /** Problems that `runner audit verify` finds; a clock that was moved is one to it. */
  verify(): Promise<string>;
  /** What runs on behalf of this root, without the writers of what the app prints. */
  processes(): Process[];
  /** How many of these writers there are: a shell and its dd for each instance that runs. */
  writers(): number;
  readonly commits: Map<string, Commit>;
  close(): void;
}

/** Milliseconds that a deploy takes here: what was measured last. */
let usual = 1_500;
let subjects = 0;

/** Registers the app `shop`, whose repository is empty. */
export async function makeSubject(
  git: GitServer,
  ports: Ports,
  driver: Driver = 'process',
): Promise<Subject> {
  const folder = temporaryFolder('root');
  const root = join(folder, 'root');
  subjects += 1;
  const repo = `acme/s${subjects}`;
  await git.createRepo(repo);
  mkdirSync(root);
  const config = `code_host_git_url: ${git.url}\nretry_after: [0s]\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const add = ['--repo', repo, '--name', 'shop', '--branch', 'main', '--token', '-'];
  const added = await run('runner-add', add, { root, stdin: TOKEN });
  if (added.status !== 0) throw new Error(added.stderr);

  const commits = new Map<string, Commit>();
  let offset = 0;
  let hasMoved = false;
  const options = () => ({ root, env: shiftedClock(offset) });
  const app = (path: string) => join(root, 'apps/shop', path);
  const state = () => JSON.parse(readFileSync(join(root, 'state/shop.json'), 'utf8')) as AppState;

  async function push([, kind, instances = '', keep]: Step): Promise<void> {
    const version = `v${commits.size + 1}`;
    const names = instances.split(',');
    const commit = { version, kind, instances: names, keep: Number(keep) } as Commit;
    const files = filesOf(commit, { ports, driver, folder });
    await git.commit(repo, files, version, { tag: version });
    commits.set(version, commit);
  }

  async function kill([, fraction, ...killed]: Step): Promise<{ answer: string; printed: string }> {
    const [tool, ...args] = wordsOf(killed);
    const ms = usual * Number(fraction);
    const command = { tool, args: [...args, '--json'], env: options().env };
    const ended = await runKilled(command, { ms }, root);
    const answer = ended.signal === null ? answerOf(ended) : 'killed';
    return { answer, printed: printedBy(ended) };
  }

  return {
    root,
    repo,
    commits,
    isInterrupted: () => state().deploying !== null,
    async perform(step) {
      const [kind, argument] = step;
      if (kind === 'push') await push(step);
      if (kind === 'clock') {
        offset += Number(argument);
        hasMoved = true;
      }
      if (kind === 'kill') return kill(step);
      if (kind === 'push' || kind === 'clock') return { answer: '', printed: '' };
      const began = performance.now();
      const [tool, ...args] = wordsOf(step);
      const ended = await run(tool, [...args, '--json'], options());
      const answer = answerOf(ended);
      if (kind === 'deploy' && answer === 'deployed') usual = performance.now() - began;
      return { answer, printed: printedBy(ended) };
    },
    async observe() {
      const names = Object.keys(ports);
      const list = await run('runner-list', ['--json'], options());
      const [listed] = (JSON.parse(list.stdout) as { apps: AppSummary[] }).apps;
      const known = state();
      const versions = Object.values(known.instances)
        .flatMap(({ current, previous }) => [current, ...previous])
        .filter((each): each is Deployed => each !== null);
      const log = join(root, 'logs/deploy-events.jsonl');
      const releases = existsSync(app('releases')) ? readdirSync(app('releases')) : [];
      const answers = await Promise.all(names.map((name) => page(ports[name] as number)));
      return {
        served: Object.fromEntries(names.map((name, index) => [name, answers[index] ?? null])),
        linked: Object.fromEntries(
          names.map((name) => [name, versionIn(app(`instances/${name}/current`))]),
        ),
        listed: listed as AppSummary,
        state: known,
        log: (existsSync(log) ? readFileSync(log, 'utf8') : '')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as LogLine),
        kept: new Map(
          versions.map(({ version, release }) => [version, versionIn(app(`releases/${release}`))]),
        ),
        unfinished: releases.filter((name) => name.startsWith('.')),
      };
    },
    async verify() {
      if (hasMoved || !existsSync(join(root, 'logs'))) return '';
      const { status, stdout, stderr } = await run('runner-audit', ['verify'], options());
      return status === 0 ? '' : `${stdout}${stderr}`;
    },
    processes: () => processesIn(root).filter((each) => !isWriter(each)),
    writers: () => processesIn(root).filter(isWriter).length,
    close: () => endAll(root),
  };
}

function isWriter({ command }: Process): boolean {
  return command.includes('/output.log');
}

/** The tool and the arguments of a step. */
function wordsOf([kind, version]: Step): [tool: string, ...args: string[]] {
  const chosen = (option: string) => (version === undefined ? [] : [option, version]);
  if (kind === 'fetch') return ['runner-fetch', '--deploy', 'shop'];
  if (kind === 'rollback') return ['runner-rollback', 'shop', ...chosen('--to')];
  return ['runner-deploy', 'shop', ...chosen('--ref')];
}

function endAll(root: string): void {
  for (const { pid } of processesIn(root)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

function versionIn(folder: string): string | null {
  try {
    return readFileSync(join(folder, 'VERSION'), 'utf8').trim();
  } catch {
    return null;
  }
}

/** The last words of a command. */
function printedBy({ stdout, stderr }: Ended): string {
  const lines = [
    stdout.trimEnd().split('\n').at(-1) ?? '',
    ...stderr.trimEnd().split('\n').slice(-6),
  ];
  return lines.map((line) => line.slice(0, 400)).join('\n');
}

/** The result of a command in one word. */
function answerOf({ status, stdout }: Ended): string {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) return `status ${status}`;
  const { result, error } = JSON.parse(last) as { result?: string; error?: string };
  if (result === undefined) return error === 'version_not_found' ? 'refused' : `error ${error}`;
  return result === 'rolled_back' && status === 1 ? 'failed' : result;
}
