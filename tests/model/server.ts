/** A server with three apps, to which the operations are done for real. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { AppState } from '@runner/common/apps/state';
import { freePort } from '@runner/testing/app';
import type { GitServer } from '@runner/testing/git-server';
import { type Process, processesIn, processesLike } from '@runner/testing/processes';
import { type RunningCommand, run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { impatientFile, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { shiftedClock } from './clock.ts';
import { APPS, type App, COMMANDS } from './operations.ts';
import { START } from './sample-app.ts';
import type { Step } from './steps.ts';
import { TOKEN } from './subject.ts';

/** Milliseconds that a deploy takes here: what was measured last. */
let usual = 1_500;
let servers = 0;

export interface AppServer {
  readonly root: string;
  /** Does a step; resolves what went wrong with its commands themselves, and what they printed. */
  perform(step: Step): Promise<{ problems: string[]; printed: string }>;
  state(app: App): AppState;
  /** What the app answers; null: nothing listens. */
  served(app: App): Promise<string | null>;
  /** The processes of the app itself. */
  processes(app: App): Process[];
  runner(tool: string, ...args: readonly string[]): ReturnType<typeof run>;
  /** Apps whose process was killed, and that nothing has started again since. */
  readonly crashed: ReadonlySet<App>;
  readonly hasClockMoved: () => boolean;
  close(): void;
}

/** Statuses of commands that did what they say, refused, failed, or were busy or interrupted. */
const STATUSES = [0, 1, 75, 130, 143];

export async function makeServer(git: GitServer): Promise<AppServer> {
  // Short: the path of a socket has at most 107 bytes.
  const folder = temporaryFolder('m', '/tmp');
  const root = join(folder, 'r');
  mkdirSync(root);
  const config = `code_host_git_url: ${git.url}\nretry_after: [0s]\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  servers += 1;
  const number = servers;
  const repo = (app: App) => `acme/${app}${number}`;
  const ports: Record<string, number> = {};
  for (const app of APPS) {
    ports[app] = await freePort();
    await git.createRepo(repo(app));
    const add = ['--repo', repo(app), '--name', app, '--branch', 'main', '--token', '-'];
    const added = await run('runner-add', add, { root, stdin: TOKEN });
    if (added.status !== 0) throw new Error(added.stderr);
  }
  const versions = new Map<App, number>();
  const crashed = new Set<App>();
  let offset = 0;
  let hasMoved = false;
  const path = (app: App, file: string) => join(root, 'apps', app, file);
  const begin = (words: readonly string[]): RunningCommand => {
    const [tool = '', ...args] = words;
    const stdin =
      tool === 'backup' ? 'a passphrase of seven words or so' : 'postgres://u:s3cret@db/x';
    return start(`runner-${tool}`, args, { root, stdin, env: shiftedClock(offset) });
  };

  async function push(app: App, manner: string): Promise<void> {
    const version = `v${(versions.get(app) ?? 0) + 1}`;
    versions.set(app, (versions.get(app) ?? 0) + 1);
    const behaves = manner === 'unhealthy' || manner === 'crashing' ? manner : 'good';
    const file = behaves === 'good' ? trafficFile : impatientFile;
    const more = `${manner === 'build' ? 'build: "echo no such module; exit 1"\n' : ''}${manner === 'hook' ? 'hooks: { pre_switch: "exit 1" }\n' : ''}keep: 3\n`;
    const env = `instances: { default: { env: { PORT: "${ports[app]}", PID_FILE: "${folder}/${app}.pid" } } }\n`;
    const own = {
      sock: `${file('traffic: { type: socket, drain: 1s }\n')}${more}`,
      proc: `${file('')}${more}${env}`,
      cmd: `${file('').replace(/start:.*/, 'start: { type: command, run: sh start.sh }\nstop: kill $(cat $PID_FILE) || true')}${more}${env}`,
    };
    const files = { ...trafficFiles(version, behaves), 'start.sh': START, '.deploy.yml': own[app] };
    await git.commit(repo(app), files, version, { tag: version });
  }

  /** Lets a command begin, and something happen to it. */
  async function meet([app, kind, part, ...words]: Step): Promise<RunningCommand[]> {
    const command = (kindOf: string | undefined, version?: string) =>
      COMMANDS[kindOf ?? '']?.(app as App, version) ?? [];
    const [other] = kind === 'with' ? words.splice(0, 1) : [];
    const first = begin(command(words[0], words[1]));
    await setTimeout(usual * Number(part));
    const signals: Record<string, NodeJS.Signals> = {
      kill: 'SIGKILL',
      term: 'SIGTERM',
      int: 'SIGINT',
    };
    const signal = signals[String(kind)];
    if (signal) end(first.pid, signal);
    if (signal) return [first];
    return [first, begin(kind === 'cancel' ? ['cancel', String(app)] : command(other))];
  }

  async function crash(app: App): Promise<void> {
    for (const { pid } of appProcesses(root, app)) end(pid);
    crashed.add(app);
    await setTimeout(50);
  }

  return {
    root,
    crashed,
    hasClockMoved: () => hasMoved,
    async perform(step) {
      const [app, kind = '', argument = ''] = step as [App, ...string[]];
      if (kind === 'push') await push(app, argument);
      else if (kind === 'crash') await crash(app);
      else if (kind === 'clock') {
        offset += Number(argument);
        hasMoved = true;
      } else {
        const began = performance.now();
        const own = COMMANDS[kind];
        const running = own ? [begin(own(app, argument || undefined))] : await meet(step);
        const ended = await Promise.all(running.map(({ done }) => done));
        const isOver = kind === 'deploy' && ended[0]?.status === 0;
        if (isOver) usual = performance.now() - began;
        const problems = ended
          .filter(({ status, signal }) => signal === null && !STATUSES.includes(status as number))
          .map(({ status }) => `exit status ${status}`);
        const printed = ended.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('---\n');
        if (/this is a bug|TypeError/.test(printed)) problems.push('a bug is reported');
        for (const each of APPS) if (appProcesses(root, each).length > 0) crashed.delete(each);
        return { problems, printed: printed.slice(-3_000) };
      }
      return { problems: [], printed: '' };
    },
    state: (app) => JSON.parse(readFileSync(join(root, `state/${app}.json`), 'utf8')),
    served: (app) =>
      answerOf(
        app === 'sock'
          ? { socketPath: path(app, 'instances/default/live/app.sock') }
          : { port: ports[app], host: '127.0.0.1' },
      ),
    processes: (app) => appProcesses(root, app),
    runner: (tool, ...args) => run(`runner-${tool}`, args, { root, env: shiftedClock(offset) }),
    close() {
      for (const { pid } of processesIn(folder)) end(pid);
    },
  };
}

/** The processes of the app itself, without the writers of what it prints. */
function appProcesses(root: string, app: App): Process[] {
  return processesLike(/^(?:\S*\/)?node server\.js$/, join(root, 'apps', app));
}

function end(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

/** The version of an app on a port or a socket; null when no one answers. */
export function answerOf(where: RequestOptions): Promise<string | null> {
  return new Promise((resolve) => {
    const request = get({ ...where, path: '/', agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(String(response.headers.version));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(null));
  });
}
