/** The files of the commits that are deployed: a small HTTP app, started in one way or another. */
import { appFiles } from '@runner/testing/app';
import type { Commit } from './rules.ts';

/** The port of each instance that a commit may have. */
export type Ports = Readonly<Record<string, number>>;

/** How the app is started. */
export type Driver = 'process' | 'command';

/** Where the instances listen, how they are started, and where its pid files are kept. */
export interface Setting {
  readonly ports: Ports;
  readonly driver: Driver;
  readonly folder: string;
}

/**
 * Replaces what runs by a daemon of its own session, as a control script of an app does. It takes its
 * time, so that a kill of the deploy finds it at work.
 */
export const START = `sleep 0.1
old=$(cat "$PID_FILE" 2>/dev/null)
test -n "$old" && kill "$old" 2>/dev/null
while test -n "$old" && kill -0 "$old" 2>/dev/null; do sleep 0.02; done
setsid node server.js </dev/null >/dev/null 2>&1 &
sleep 0.05
echo $! > "$PID_FILE"
sleep 0.1
`;

/** Its `.deploy.yml`. */
function deployFile({ kind, instances, keep }: Commit, of: Setting): string {
  const lines = instances.map(
    (name) =>
      `  ${name}: { env: { PORT: "${of.ports[name]}", PID_FILE: "${of.folder}/${name}.pid" } }`,
  );
  const start =
    of.driver === 'process'
      ? 'start: { type: process, run: exec node server.js }'
      : 'start: { type: command, run: sh start.sh }\nstop: kill $(cat $PID_FILE)';
  const build = kind === 'build' ? 'build: "echo no such module; exit 1"\n' : '';
  const within = kind === 'health' ? '300ms' : '60s';
  return `instances:
${lines.join('\n')}
${build}${start}
health: { url: "http://127.0.0.1:\${PORT}/health", interval: 20ms, within: ${within} }
keep: ${keep}
`;
}

/** All files of a commit; one that is not healthy answers 503. */
export function filesOf(commit: Commit, setting: Setting): Record<string, string> {
  const files = appFiles(commit.version, commit.kind === 'health' ? { health: 503 } : {});
  return { ...files, 'start.sh': START, '.deploy.yml': deployFile(commit, setting) };
}
