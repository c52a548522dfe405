/** What the sandbox costs: the start of a command, and a build that writes many small files. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { mountsFor } from '@runner/deploy/sandbox/mounts';
import { bubblewrap } from '@runner/deploy/sandbox/probe';
import { printSetting, roundsWanted } from './harness/setting.ts';

/** Like what npm does: some programs one after another, and a tree of files. */
const BUILD = `for p in 1 2 3 4 5 6 7 8 9 10; do node -e '
for (let i = 0; i < 400; i++) { const d = "t" + process.argv[1] + "/" + i % 20; fs.mkdirSync(d, { recursive: true }); fs.writeFileSync(d + "/" + i, "x".repeat(4000)); }
' $p; done; rm -rf t*`;

const rounds = roundsWanted(20);
const found = bubblewrap(process.env);
printSetting('the sandbox', rounds);
if ('problem' in found) {
  process.stdout.write(`\nskipped: ${found.problem}\n`);
} else {
  const root = mkdtempSync(join(tmpdir(), 'runner-bench-'));
  const paths = pathsOf(root);
  const folders = {
    release: paths.app('a').release('r'),
    shared: paths.app('a').instance('i').shared,
  };
  for (const each of Object.values(folders)) mkdirSync(each, { recursive: true });
  const scratch = () => folders.shared;
  const mounts = mountsFor(
    'build',
    { paths, app: 'a', env: process.env, allow: [], scratch },
    folders,
  );
  const timed = (file: string, args: readonly string[]) => {
    const begun = performance.now();
    spawnSync(file, args, { cwd: folders.release, stdio: 'ignore' });
    return performance.now() - begun;
  };
  const row = (name: string, script: string, times: number) => {
    const [plain, confined]: [number[], number[]] = [[], []];
    const command = ['/bin/sh', '-c', script] as const;
    for (let round = 0; round < times; round += 1) {
      plain.push(timed(command[0], command.slice(1)));
      confined.push(
        timed(found.program, [...mounts, '--chdir', folders.release, '--', ...command]),
      );
    }
    const quartile = (all: number[]) =>
      (all.sort((a, b) => a - b)[Math.floor(times / 4)] ?? 0).toFixed(1);
    process.stdout.write(`| ${name} | ${quartile(plain)} ms | ${quartile(confined)} ms |\n`);
  };
  process.stdout.write('\n| | without | in the sandbox |\n|---|---|---|\n');
  row('a command that does nothing', 'exit 0', rounds);
  row('a build: 10 programs, 4,000 files', BUILD, Math.min(rounds, 10));
  rmSync(root, { recursive: true, force: true });
}
