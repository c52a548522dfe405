/** Runs an executable, and shows what it loaded beside itself. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

const folder = temporaryFolder('loading');
const hook = join(folder, 'hook.cjs');
writeFileSync(
  hook,
  `process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file.endsWith('.cjs') && file !== __filename);
  require('node:fs').writeFileSync(process.env.LOADED_RESULT, JSON.stringify(files));
});
`,
);
let runs = 0;

/** `loaded`: the files of dist/lib. */
export async function runLoading(
  tool: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended & { loaded: string[] }> {
  runs += 1;
  const result = join(folder, String(runs));
  const env = { NODE_OPTIONS: `--require=${JSON.stringify(hook)}`, LOADED_RESULT: result };
  const ended = await run(tool, args, { ...options, env });
  const files: string[] = JSON.parse(readFileSync(result, 'utf8'));
  rmSync(result);
  return { ...ended, loaded: files.map((file) => file.replace(`${distFolder()}/lib/`, '')) };
}
