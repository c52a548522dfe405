/** What every measurement begins with: how often, and the machine in words. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';

/** The value of `--name VALUE`; undefined if it is not given. */
export function optionGiven(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? undefined : process.argv[at + 1];
}

/** `--rounds N`, else so many. */
export const roundsWanted = (usual: number) => Number(optionGiven('rounds') ?? usual);

/** Prints what is measured, when, of which commit, and on what; the load shows whether the machine was quiet. */
export function printSetting(title: string, rounds: number): void {
  const processor = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  const git = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim();
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], {
    encoding: 'utf8',
  }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const load = (loadavg()[0] ?? 0).toFixed(1);
  process.stdout.write(
    `\n## ${title}\n\n${date}, commit ${commit}, Node ${process.version}, ${git}, Linux ${release()}, ${processor}, ${memory}, load ${load}; ${rounds === 1 ? 'once' : `${rounds} rounds, lower quartiles`}\n`,
  );
}
