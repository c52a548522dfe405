/** The compose files that take the place of Kamal's containers. */
import { yamlText } from '@runner/common/cli/output';
import type { SourceEntry, SourceValue } from '../plan/entry.ts';
import { type Plan, refusalOf } from '../plan/plan.ts';
import { isSecret } from '../plan/secret.ts';

/** The app's own, and that of what outlives its releases. */
export const FILES = ['compose.yaml', 'accessories.yaml'] as const;

/** A service of a compose file. */
type Service = Record<string, unknown>;

/** Where Kamal's containers find one another by their names. */
const NETWORK = 'kamal';

export async function composeFiles(plan: Plan, entries: readonly SourceEntry[]): Promise<void> {
  const source = new Source(plan, entries);
  const [app, accessories] = FILES;
  const others = accessoryServices(source);
  const isAlone = Object.keys(others).length === 0;
  plan.files.set(app, await fileOf(appServices(source), !isAlone));
  if (isAlone) return;
  plan.files.set(accessories, await fileOf(others, true));
  plan.notes.add(
    `let the accessories that Kamal started run on, with their data; ${accessories} is for a new server, with its secrets exported: docker network create ${NETWORK} && docker compose --project-name ${plan.app.toLowerCase()}-accessories --file ${accessories} up --detach`,
  );
}

/** A compose file. docker has the named volumes already, with the data of today. */
function fileOf(services: Readonly<Record<string, Service>>, isJoined: boolean): Promise<string> {
  const used = Object.values(services).flatMap(({ volumes }) => (volumes ?? []) as string[]);
  const names = used.flatMap((each) => /^([A-Za-z0-9][\w.-]*):/.exec(each)?.[1] ?? []);
  const volumes = Object.fromEntries(names.map((name) => [name, { external: true }]));
  const networks = { default: { name: NETWORK, external: true } };
  return yamlText({
    services,
    ...(names.length > 0 && { volumes }),
    ...(isJoined && { networks }),
  });
}

/** The entries that may be copied, by their path. */
class Source {
  readonly #all: readonly SourceEntry[];
  readonly #kept: readonly SourceEntry[];
  readonly app: string;

  constructor({ app, fates }: Plan, entries: readonly SourceEntry[]) {
    this.app = app;
    this.#all = entries;
    this.#kept = entries.filter(
      (entry) => !refusalOf(entry) && !('reason' in (fates.get(entry) ?? {})),
    );
  }

  below(...path: readonly string[]): SourceEntry[] {
    return this.#kept.filter((entry) => path.every((part, index) => entry.path[index] === part));
  }

  /** undefined also for a key without a value, which the printed file leaves out. */
  one(...path: readonly string[]): Exclude<SourceValue, null> | undefined {
    return (
      this.below(...path).find((entry) => entry.path.length === path.length)?.value ?? undefined
    );
  }

  list(...path: readonly string[]): string[] {
    return this.below(...path).flatMap(({ path: own, value }) =>
      own.length === path.length + 1 && own.at(-1)?.startsWith('[') ? String(value) : [],
    );
  }

  /** Names of the variables of `env` below a path: compose passes on those of the app. */
  variables(...path: readonly string[]): string[] {
    const all = this.below(...path, 'env').map(({ path: own, value }) => {
      const last = own.at(-1) as string;
      return last.startsWith('[') ? String(value).replace(/:.*$/, '') : last;
    });
    const port = this.one('env', 'clear', 'PORT') ?? this.one('env', 'PORT');
    const names = [...new Set(all)].filter((name) => /^[A-Za-z_]\w*$/.test(name));
    return names.map((name) => (name === 'PORT' ? `PORT=${port ?? ''}` : name));
  }

  /** Keys below a path, also of values that are left. */
  names(path: string): string[] {
    const keys = this.#all.flatMap(({ path: [top, key = '['] }) => (top === path ? key : []));
    return [...new Set(keys)].filter((key) => /^[A-Za-z0-9][\w.-]*$/.test(key));
  }
}

function appServices(source: Source): Record<string, Service> {
  const builder = (key: string) => source.one('builder', key);
  const args = Object.fromEntries(
    source.below('builder', 'args').map(({ path, value }) => [path[2], String(value ?? '')]),
  );
  const build = {
    context: builder('context') ?? '.',
    dockerfile: builder('dockerfile'),
    target: builder('target'),
    args: filled(args),
  };
  const common = {
    image: `${source.one('image') ?? source.app}:\${RUNNER_COMMIT}`,
    build,
    restart: 'unless-stopped',
    volumes: filled(source.list('volumes')),
  };
  const roles = source.names('servers');
  const port = source.one('proxy', 'app_port') ?? source.one('healthcheck', 'port') ?? 80;
  const all = (roles.length > 0 ? roles : ['web']).map((role, index): [string, Service] => {
    const variables = [...source.variables(), ...source.variables('servers', role)];
    const service = {
      command: source.one('servers', role, 'cmd'),
      environment: filled(variables),
      ports: index === 0 ? [`127.0.0.1:\${PORT}:${port}`] : undefined,
      mem_limit: source.one('servers', role, 'options', 'memory'),
      cpus: source.one('servers', role, 'options', 'cpus'),
    };
    return [role, { ...common, ...service }];
  });
  return Object.fromEntries(all);
}

function accessoryServices(source: Source): Record<string, Service> {
  const all = source.names('accessories').map((name): [string, Service] => {
    const of = (key: string) => source.one('accessories', name, key);
    // Kamal keeps them beside the containers, in a folder of the accessory.
    const kept = source
      .list('accessories', name, 'directories')
      .map((each) => (each.startsWith('/') ? each : `./${source.app}-${name}/${each}`));
    const files = source
      .list('accessories', name, 'files')
      .map((each) => `./${each.replace(/^\.\//, '')}`);
    const port = of('port');
    const service = {
      image: of('image'),
      command: of('cmd'),
      restart: 'unless-stopped',
      environment: filled(environment(source, name)),
      ports:
        port === undefined
          ? undefined
          : [/:/.test(String(port)) ? String(port) : `127.0.0.1:${port}:${port}`],
      volumes: filled([...source.list('accessories', name, 'volumes'), ...kept, ...files]),
    };
    // The name by which the app knows it.
    return [String(of('service') ?? `${source.app}-${name}`), service];
  });
  return Object.fromEntries(all);
}

/** `NAME=value` of what is no secret, `NAME` of the others: docker takes them from its environment. */
function environment(source: Source, name: string): string[] {
  const path = ['accessories', name, 'env'];
  const secrets = source.list(...path, 'secret').map((each) => each.replace(/:.*$/, ''));
  const plain = source.below(...path).filter(({ path: own }) => !own.at(-1)?.startsWith('['));
  const assigned = plain.map(({ path: own, value }) => {
    const variable = own.at(-1) as string;
    const text = String(value ?? '');
    return isSecret(variable, text) ? variable : `${variable}=${text}`;
  });
  return [...assigned, ...secrets];
}

function filled<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
