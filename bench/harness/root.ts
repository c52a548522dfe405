/** Roots to measure in. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

/** Runs one of our executables, which must succeed. */
export async function mustRun(
  tool: string,
  args: readonly string[],
  options: Parameters<typeof run>[2],
): Promise<Ended> {
  const done = await run(tool, args, options);
  if (done.status !== 0) throw new Error(`${tool} ended with ${done.status}: ${done.stderr}`);
  return done;
}

/** A root with a config.yml and the apps `app0`, `app1`, … of a repository, or each of its own, public ones without a token. */
export async function makeRoot(
  config: string,
  repo: string | ((number: number) => string),
  count = 1,
  tokenOf: (number: number) => string | undefined = () => undefined,
): Promise<string> {
  const root = join(temporaryFolder('bench'), 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  for (let number = 0; number < count; number += 1) {
    const token = tokenOf(number);
    const access = token === undefined ? ['--public'] : ['--token', '-'];
    const from = typeof repo === 'string' ? repo : repo(number);
    const args = ['--repo', from, '--branch', 'main', '--name', `app${number}`, ...access];
    await mustRun('runner-add', args, { root, stdin: token ?? '' });
  }
  return root;
}
