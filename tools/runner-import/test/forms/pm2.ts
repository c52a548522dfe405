/** Ecosystem files: JavaScript in several styles, JSON and YAML. */
import { type Form, many, picked, SECRET, type Truth } from './form.ts';

type Settings = readonly (readonly [path: string, value: unknown, to: string])[];

const KEPT = 'start.config';

const APP: Settings = [
  ['name', 'shop', KEPT],
  ['script', './dist/server.js', KEPT],
  ['instances', 'max', KEPT],
  ['exec_mode', 'cluster', KEPT],
  ['watch', false, KEPT],
  ['autorestart', true, KEPT],
  ['max_memory_restart', '512M', KEPT],
  ['args', '--port 3000', KEPT],
  ['node_args', '--max-old-space-size=512', KEPT],
  ['interpreter', 'node', KEPT],
  ['error_file', './logs/error.log', KEPT],
  ['out_file', './logs/out.log', KEPT],
  ['log_date_format', 'YYYY-MM-DD HH:mm Z', KEPT],
  ['merge_logs', true, KEPT],
  ['min_uptime', '10s', KEPT],
  ['max_restarts', 10, KEPT],
  ['restart_delay', 4000, KEPT],
  ['kill_timeout', 5000, KEPT],
  ['wait_ready', true, KEPT],
  ['cron_restart', '0 3 * * *', KEPT],
  ['time', true, KEPT],
  ['ignore_watch.0', 'node_modules', KEPT],
  ['ignore_watch.1', 'logs', KEPT],
  ['cwd', '/var/www/shop', '-'],
  ['env.NODE_ENV', 'production', KEPT],
  ['env.PORT', 8080, KEPT],
  ['env.JWT_SECRET', SECRET, 'runner env set shop JWT_SECRET'],
  ['env.DATABASE_URL', `postgres://shop:${SECRET}@db/shop`, 'runner env set shop DATABASE_URL'],
  ['env_production.LOG_LEVEL', 'info', 'instances.default.env.LOG_LEVEL'],
  ['env_production.API_KEY', SECRET, 'runner env set shop API_KEY'],
  ['env_staging.NODE_ENV', 'staging', '-'],
];

const DEPLOY: Settings = [
  ['repo', 'git@github.com:acme/shop.git', 'runner add'],
  ['ref', 'origin/main', 'runner add'],
  ['user', 'deploy', 'not needed'],
  ['host', '192.0.2.10', 'not needed'],
  ['path', '/var/www/shop', '/opt/runner/apps/shop'],
  ['key', '~/.ssh/id_ed25519', 'not needed'],
  ['ssh_options', 'StrictHostKeyChecking=no', 'not needed'],
  ['pre-deploy-local', '', 'nothing'],
  ['pre-setup', '', 'nothing'],
  [
    'post-deploy',
    'npm ci && npm run migrate && pm2 reload ecosystem.config.js --env production',
    'build.run, hooks.pre_switch',
  ],
];

function objectOf(settings: Settings): object {
  const made: Record<string, unknown> = {};
  for (const [path, value] of settings) {
    const [first = '', second] = path.split('.');
    if (second === undefined) made[first] = value;
    else if (second === '0' || second === '1')
      made[first] = [...((made[first] ?? []) as []), value];
    else made[first] = Object.assign(made[first] ?? {}, { [second]: value });
  }
  return made;
}

function truthOf(settings: Settings, before: string): Truth {
  const seen = new Map<string, number>();
  const all = settings.map(([path, , to]) => {
    const [first = '', second] = path.split('.');
    const isItem = second === '0' || second === '1';
    const index = seen.get(first) ?? 0;
    if (isItem) seen.set(first, index + 1);
    return [`${before}${isItem ? `${first}[${index}]` : path}`, to];
  });
  return Object.fromEntries(all) as Truth;
}

/** As people write it: keys without quotes, single quotes. */
function javascript(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value}'`;
  if (value === null || typeof value !== 'object') return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return `[\n${value.map((each) => `${inner}${javascript(each, inner)},\n`).join('')}${indent}]`;
  const lines = Object.entries(value).map(
    ([key, each]) =>
      `${inner}${/^\w+$/.test(key) ? key : `'${key}'`}: ${javascript(each, inner)}, // ${key}\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

function yaml(value: unknown, indent = ''): string {
  if (value === null || typeof value !== 'object') return ` ${JSON.stringify(value)}\n`;
  if (Array.isArray(value))
    return `\n${value.map((each) => `${indent}-${yaml(each, `${indent}  `).replace(/^\n\s*/, ' ')}`).join('')}`;
  const lines = Object.entries(value).map(
    ([key, each]) => `${indent}${key}:${yaml(each, `${indent}  `)}`,
  );
  return `\n${lines.join('')}`;
}

const STYLES: readonly [file: string, write: (value: object) => string, truth: Truth][] = [
  ['ecosystem.config.js', (value) => `module.exports = ${javascript(value)};\n`, {}],
  [
    'ecosystem.config.js',
    (value) => `'use strict';\nconst config = ${javascript(value)};\nmodule.exports = config;\n`,
    { code: KEPT },
  ],
  ['ecosystem.config.mjs', (value) => `export default ${javascript(value)};\n`, {}],
  [
    'ecosystem.config.cjs',
    (value) => `require('dotenv').config();\n\n/* pm2 */\nmodule.exports = ${javascript(value)}\n`,
    { code: KEPT },
  ],
  ['ecosystem.json', (value) => JSON.stringify(value, null, 2), {}],
  ['process.json', (value) => `${JSON.stringify(value)}\n`, {}],
  ['ecosystem.yml', (value) => yaml(value).trimStart(), {}],
];

export const PM2: readonly Form[] = many(42, (number) => {
  const [file, write, more] = STYLES[number % STYLES.length] as (typeof STYLES)[number];
  const app = picked(APP, number, 2);
  const deploy = number % 3 === 0 ? picked(DEPLOY, number, 2) : [];
  const value = {
    apps: [objectOf(app)],
    ...(deploy.length > 0 && { deploy: { production: objectOf(deploy) } }),
  };
  return {
    format: 'pm2',
    file,
    text: write(value),
    truth: { ...more, ...truthOf(app, 'apps[0].'), ...truthOf(deploy, 'deploy.production.') },
  };
});
