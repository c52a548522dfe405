/** Kamal: its containers become those of a compose.yaml, which runner builds and starts on the server. */
import type { SourceEntry } from '../plan/entry.ts';
import { left, type Plan, refusalOf, to } from '../plan/plan.ts';
import { isSecret } from '../plan/secret.ts';
import {
  HERE,
  type ImportRule,
  none,
  ONE_SERVER,
  type SourceFormat,
  setting,
  stays,
} from '../plan/table.ts';
import { yamlEntries } from '../read/yaml.ts';
import { composeFiles, FILES } from './kamal-compose.ts';

const BUILT = stays('build.run: the image is built on the server, without a registry');
const PROXY = none('is a setting of kamal-proxy: give it to your own proxy');
const LABELS = none('is for a proxy or a collector of logs that Kamal sets up');
const [APP_FILE, ACCESSORIES_FILE] = FILES;
const inApp: ImportRule = (entry) => refusalOf(entry) ?? to(APP_FILE);
const inAccessories: ImportRule = (entry) => refusalOf(entry) ?? to(ACCESSORIES_FILE);

const nameIn = ({ path }: SourceEntry) => path.at(-1) as string;
/** Kamal counts seconds. */
const seconds = (value: unknown) => (typeof value === 'number' ? `${value}s` : value);

/** The container's own PORT is not that of the server, which runner sets. */
const clear: ImportRule = (entry, plan) =>
  nameIn(entry) === 'PORT' ? inApp(entry, plan) : plan.env(entry, nameIn(entry));
/** `NAME`, or `NAME:OTHER` where the secret has another name. */
const secret: ImportRule = ({ value }, plan) => plan.secret(String(value).replace(/:.*$/, ''));
/** The build gets it by its name, and the app has the value. */
const ofBuild: ImportRule = (entry, plan) => {
  const stored = plan.secret(String(entry.value));
  return 'to' in stored ? plan.append('build.env', entry) : stored;
};
const ofAccessory: ImportRule = (entry, plan) =>
  isSecret(nameIn(entry), String(entry.value))
    ? plan.secret(nameIn(entry))
    : inAccessories(entry, plan);

/** `app exec "bin/rails console"` runs in the container. */
const alias: ImportRule = ({ value, computed }, { app }) => {
  const text = computed ? '' : String(value);
  if (/^(?:app )?logs\b/.test(text)) return to(`runner logs ${app} -f`);
  return left(
    /^(?:app|server) exec\b/.test(text)
      ? 'runs in the container: use docker compose exec'
      : 'is a command of Kamal',
  );
};

const host: ImportRule = (entry, plan) =>
  (/^(?:\[0\]|host)$/.test(nameIn(entry)) ? HERE : ONE_SERVER)(entry, plan);

const inHealth = (key: string) => `proxy.healthcheck.${key} healthcheck.${key}`;

export const kamal: SourceFormat = {
  read: (text, file) => yamlEntries(withoutCode(text), file),
  nameOf: (entries) => entries.find(({ key, computed }) => key === 'service' && !computed)?.value,
  table: [
    [
      'service',
      (entry, { app }) =>
        entry.computed
          ? left('is computed: give the name of the app with --app')
          : (refusalOf(entry) ?? to(`runner add … --name ${app}`)),
    ],
    ['image', inApp],
    ['servers.[] servers.*.[] servers.*.hosts.[] servers.[].*', host],
    ['servers.*.cmd', inApp],
    ['servers.*.env.secret.[]', secret],
    ['servers.*.env.clear.* servers.*.env.*', clear],
    ['servers.*.options.memory servers.*.options.cpus', inApp],
    ['servers.*.options.*', none('is an option of docker: add it to compose.yaml')],
    ['servers.*.proxy', stays('instances: only the first role has requests')],
    ['servers.*.labels.** labels.** logging.** servers.*.logging.**', LABELS],
    ['proxy.host', setting('instances.default.domain')],
    [
      'proxy.hosts.[]',
      (entry, plan) =>
        nameIn(entry) === '[0]' ? plan.set('instances.default.domain', entry) : PROXY(entry, plan),
    ],
    [
      'proxy.ssl',
      ({ value }, plan) =>
        value === true
          ? plan.command(`sudo runner setup ${plan.app}`)
          : to('instances: without TLS'),
    ],
    ['proxy.app_port', inApp],
    [
      inHealth('path'),
      (entry, plan) =>
        plan.set('health.url', entry, `http://127.0.0.1:\${PORT}${String(entry.value)}`),
    ],
    [inHealth('interval'), setting('health.interval', seconds)],
    [inHealth('timeout'), setting('health.timeout', seconds)],
    [inHealth('port'), inApp],
    [inHealth('max_attempts'), none('runner checks until health.within has passed')],
    [inHealth('*'), () => left(kamal.unknown)],
    ['proxy.** traefik.**', PROXY],
    ['registry.**', BUILT],
    ['builder.dockerfile builder.context builder.target builder.args.*', inApp],
    ['builder.secrets.[]', ofBuild],
    [
      'builder.arch builder.arch.[] builder.remote builder.local builder.driver builder.multiarch builder.cache.** builder.local.** builder.remote.**',
      BUILT,
    ],
    ['env.secret.[]', secret],
    ['env.clear.* env.*', clear],
    ['env.tags.**', none('depends on the host, and runner works on one')],
    ['accessories.*.host accessories.*.hosts.[] accessories.*.role accessories.*.roles.[]', HERE],
    ['accessories.*.env.secret.[]', secret],
    ['accessories.*.env.clear.* accessories.*.env.*', ofAccessory],
    [
      'accessories.*.image accessories.*.port accessories.*.cmd accessories.*.service accessories.*.volumes.[] accessories.*.directories.[] accessories.*.files.[]',
      inAccessories,
    ],
    ['volumes.[]', inApp],
    [
      'ssh.** sshkit.** run_directory minimum_version require_destination primary_role allow_empty_roles',
      HERE,
    ],
    ['retain_containers', setting('keep')],
    ['deploy_timeout', setting('start.timeout', seconds)],
    ['drain_timeout', setting('traffic.drain', seconds)],
    ['stop_wait_time', setting('start.stop_timeout', seconds)],
    ['boot.limit boot.wait', HERE],
    ['aliases.*', alias],
    [
      'asset_path',
      none('keeps assets of two versions: let the proxy serve them, or keep them in shared'),
    ],
    [
      'hooks_path',
      none('hooks are in .deploy.yml: write the commands of these scripts into hooks'),
    ],
    // An anchor is used where an alias names it.
    [
      '**',
      ({ path }) =>
        path[0]?.startsWith('x-') ? to('nothing: it is an anchor') : left(kamal.unknown),
    ],
  ],
  finish: whole,
  unknown: 'is not a setting of Kamal that runner knows',
};

/** Kamal runs ERB before it reads YAML, so that quotes and colons in a tag are none of the file. */
function withoutCode(text: string): string {
  return text
    .replace(/^[ \t]*<%(?!=)(?:(?!%>)[\s\S])*%>[ \t]*(?:#.*)?$/gm, (code) =>
      code.replace(/.+/g, '#'),
    )
    .replace(/<%[\s\S]*?%>/g, '<%%>');
}

async function whole(plan: Plan, entries: readonly SourceEntry[]): Promise<void> {
  if (!entries.some(({ key }) => key === 'service' || key === 'image')) {
    plan.notes.add(
      'a destination changes config/deploy.yml: import that, and change it by this one',
    );
    return;
  }
  await composeFiles(plan, entries);
  plan.derive('build.run', 'docker compose build', 'as kamal build, on the server');
  plan.derive('start.type', 'compose', 'in place of kamal app boot');
  plan.derive('start.file', APP_FILE, 'runner import printed it');
  plan.derive('health.url', 'http://127.0.0.1:${PORT}/up', 'the path that kamal-proxy asks');
  plan.derive('traffic.type', 'ports', 'two versions overlap, as with kamal-proxy');
  plan.derive('traffic.ports', [3001, 3002], 'one is free while the other one is live');
}
