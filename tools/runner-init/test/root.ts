/** Repositories to look at, and `runner init` in them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import type { FixtureFiles } from './vectors/repositories.ts';

/** Lays files out in a folder of their own. */
export function laidOut(files: FixtureFiles): string {
  const folder = temporaryFolder('repository');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Where scratch roots are made, so that a test sees what is left. */
export const scratches = temporaryFolder('scratches');

export function init(
  folder: string,
  args: readonly string[] = [],
  options: Partial<RunOptions> = {},
): Promise<Ended> {
  const env = { TMPDIR: scratches, RUNNER_SANDBOX: 'auto', ...options.env };
  const root = join(folder, '..', 'no-root');
  return run('runner-init', [folder, ...args], { root, ...options, env });
}

/** `.deploy.yml` in a folder. */
export const written = (folder: string): string =>
  readFileSync(join(folder, '.deploy.yml'), 'utf8');

/** A server on Node that answers with 200 on one path. */
export const server = (path: string, at = 'process.env.PORT'): string =>
  `require('node:http').createServer((req, res) => {
  res.statusCode = req.url === '${path}' ? 200 : 404;
  res.end('ok');
}).listen(${at});
`;
