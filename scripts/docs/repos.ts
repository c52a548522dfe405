/** What the git host of the documentation has: a shop whose v1.2.0 does not compile, and a blog. */
import { appFiles } from '@runner/testing/app';
import type { GitServer } from '@runner/testing/git-server';

const SHOP_BUILD = `console.log('compiled 24 files');\n`;
const BROKEN_BUILD = `console.error("src/checkout.ts:42:17 - error TS2339: Property 'total' does not exist on type 'Cart'.");
process.exitCode = 2;
`;

function shopFiles(version: string, port: number, broken: boolean): Record<string, string> {
  return {
    ...appFiles(version),
    'build.js': broken ? BROKEN_BUILD : SHOP_BUILD,
    '.deploy.yml': `instances: { default: { domain: shop.example.org, env: { PORT: "${port}" } } }
build: node build.js
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:\${PORT}/health", interval: 50ms, within: 5s }
notify: {}
`,
  };
}

/** Repository, version and files of each commit on the git host, in order: the ids are always the same. */
export function commitsOf(
  port: number,
): (readonly [repo: string, tag: string, Record<string, string>])[] {
  return [
    ['acme/shop', 'v1.0.0', shopFiles('v1.0.0', port, false)],
    ['acme/blog', 'v1', { 'index.html': '<h1>Blog</h1>\n' }],
    ['acme/shop', 'v1.1.0', shopFiles('v1.1.0', port, false)],
    ['acme/shop', 'v1.2.0', shopFiles('v1.2.0', port, true)],
    ['acme/shop', 'v1.3.0', shopFiles('v1.3.0', port, false)],
  ];
}

/** Makes the repositories, and an empty one to be pushed to. */
export async function makeRepos(git: GitServer): Promise<void> {
  for (const repo of ['acme/shop', 'acme/blog', 'you/hello']) await git.createRepo(repo);
}
