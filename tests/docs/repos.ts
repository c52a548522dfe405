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
health: { url: "http://127.0.0.1:\${PORT}/health", interval: 50ms, within: 60s }
notify: {}
`,
  };
}

interface Release {
  readonly repo: string;
  readonly tag: string;
  readonly branch?: string;
  readonly files: Record<string, string>;
}

/** The commits on the git host, in order: their ids are always the same. */
function releases(port: number): Release[] {
  const shop = (tag: string, broken = false) => ({
    repo: 'acme/shop',
    tag,
    files: shopFiles(tag, port, broken),
  });
  return [
    shop('v1.0.0'),
    { repo: 'acme/blog', tag: 'v1', files: { 'index.html': '<h1>Blog</h1>\n' } },
    shop('v1.1.0'),
    shop('v1.2.0', true),
    shop('v1.3.0'),
    { ...shop('v1.4.2'), branch: 'release' },
  ];
}

/** Makes the repositories, and an empty one to be pushed to; `pushed` is called after each commit. */
export async function makeRepos(
  git: GitServer,
  port: number,
  pushed: (repo: string, tag: string) => Promise<void> = async () => {},
): Promise<void> {
  for (const repo of ['acme/shop', 'acme/blog', 'you/hello']) await git.createRepo(repo);
  for (const { repo, tag, branch = 'main', files } of releases(port)) {
    await git.commit(repo, files, `Release ${tag}`, { tag, branch });
    await pushed(repo, tag);
  }
}
