/** What every measurement begins with: how often, and the machine in words. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';

/** `--rounds N`, else so many. */
export function roundsWanted(usual: number): number {
  const at = process.argv.indexOf('--rounds');
  return at === -1 ? usual : Number(process.argv[at + 1]);
}

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
