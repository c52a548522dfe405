/**
 * What the sandbox costs: the start of a command, and builds. `--project DIR`: also `npm ci` and the build of
 * a project with a package-lock.json, in ten rounds after one that fills npm's cache.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { bubblewrap } from '@runner/deploy/sandbox/probe';
import { openSandbox } from '@runner/deploy/sandbox/sandbox';
import { quantile } from './harness/measure.ts';
import { optionGiven, printSetting, roundsWanted } from './harness/setting.ts';

/** Like what npm does: some programs one after another, and a tree of files. */
const BUILD = `for p in 1 2 3 4 5 6 7 8 9 10; do node -e '
for (let i = 0; i < 400; i++) { const d = "t" + process.argv[1] + "/" + i % 20; fs.mkdirSync(d, { recursive: true }); fs.writeFileSync(d + "/" + i, "x".repeat(4000)); }
' $p; done; rm -rf t*`;

const NPM = 'npm ci --prefer-offline --no-audit --no-fund && npm run build --if-present';
const project = optionGiven('project');

const rounds = roundsWanted(20);
const found = bubblewrap(process.env);
printSetting('The sandbox', rounds);
if ('problem' in found) {
  process.stdout.write(`\nskipped: ${found.problem}\n`);
} else {
  const root = mkdtempSync(join(tmpdir(), 'runner-bench-'));
  const paths = pathsOf(root);
  const app = paths.app('a');
  const folders = { release: app.release('r'), shared: app.instance('i').shared };
  for (const each of [...Object.values(folders), app.home]) mkdirSync(each, { recursive: true });
  const sandbox = openSandbox({ paths, env: { ...process.env, RUNNER_SANDBOX: 'auto' }, app: 'a' });
  const env = { PATH: process.env.PATH ?? '', HOME: app.home };
  const command = (script: string) => ({
    file: '/bin/sh',
    args: ['-c', script],
    cwd: folders.release,
    env,
  });
  const timed = (script: string, isConfined: boolean) => {
    const begun = performance.now();
    const wrapped = isConfined
      ? sandbox.confine('build', folders)?.wrap(command(script))
      : undefined;
    const { file, args, cwd, env: own } = wrapped ?? command(script);
    const fds = wrapped ? [wrapped.settings] : [];
    const stdio = ['ignore', 'ignore', 'ignore', ...fds] as const;
    const { status } = spawnSync(file, args, { cwd, env: own, stdio: [...stdio] });
    const took = performance.now() - begun;
    fds.forEach(closeSync);
    if (status !== 0) throw new Error(`ended with ${status}: ${script}`);
    return took;
  };
  const row = (name: string, script: string, times: number) => {
    const [plain, confined]: [number[], number[]] = [[], []];
    for (let round = 0; round < times; round += 1) {
      plain.push(timed(script, false));
      confined.push(timed(script, true));
    }
    const range = (all: readonly number[]) =>
      `${[0.25, 0.75].map((part) => quantile(all, part).toFixed(1)).join(' to ')} ms`;
    process.stdout.write(`| ${name} | ${range(plain)} | ${range(confined)} |\n`);
  };
  process.stdout.write('\n| quartiles | without | in the sandbox |\n|---|---|---|\n');
  row('a command that does nothing', 'exit 0', rounds);
  row('a build: 10 programs, 4,000 files', BUILD, Math.min(rounds, 10));
  if (project !== undefined) {
    const filter = (path: string) => !path.includes('node_modules');
    cpSync(project, folders.release, { recursive: true, filter });
    timed(NPM, false);
    row('npm ci and npm run build', NPM, 10);
  }
  sandbox.close((path) => rmSync(path, { recursive: true, force: true }));
  rmSync(root, { recursive: true, force: true });
}
