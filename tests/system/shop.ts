/** The app of the story: its versions as they are pushed, and its unit. */
import { appFiles } from '@runner/testing/app';
import { PORT, REPO, type Server } from './server.ts';

/** What becomes healthy has the time of a busy machine. */
export const DEPLOY_FILE = `build: node build.js
start: { type: systemd, unit: shop.service }
health: { url: "http://127.0.0.1:${PORT}/health", interval: 100ms, within: 60s }
notify: { channel: discord }
`;

/** The unit that the server's administrator makes. */
export const UNIT = `[Unit]
Description=The shop

[Service]
User=shop
SupplementaryGroups=runner
WorkingDirectory=/opt/runner/apps/shop/instances/default/current
Environment=PORT=${PORT}
ExecStart=/usr/bin/env node server.js
Restart=on-failure

[Install]
WantedBy=multi-user.target
`;

/** A `build.js` that does not compile. */
export const BROKEN =
  'console.error("src/cart.ts:42:17 - error TS2339: Property \'total\' does not exist");\nprocess.exit(2);\n';

/** A `build.js` that takes longer than what is done meanwhile, the first time. */
export const SLOW_ONCE = `const { existsSync, writeFileSync } = require('node:fs');
const mark = process.env.RUNNER_SHARED + '/slow';
if (!existsSync(mark)) {
  writeFileSync(mark, '');
  setTimeout(() => {}, 900_000);
}
`;

/** Pushes a version, its tag included; `files` replace those of a good one. */
export function push(
  { git }: Server,
  version: string,
  files: Record<string, string> = {},
): Promise<string> {
  const built = { ...appFiles(version), 'build.js': "console.log('built');\n" };
  const all = { ...built, '.deploy.yml': DEPLOY_FILE, ...files };
  return git.commit(REPO, all, version, { tag: version });
}
