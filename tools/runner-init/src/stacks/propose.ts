/** From a stack to the settings of a `.deploy.yml`, each with its reason. */
import type { ProposedSetting } from '@runner/common/deploy-file/write';
import { word } from '@runner/common/text/shell';
import type { Checkout } from '../look/checkout.ts';
import { healthRoutes, ownPort, processIn, writtenPaths } from '../look/sources.ts';
import { packageOf } from './dependencies.ts';
import type { Detected } from './detect.ts';
import { notesOf } from './notes.ts';
import { commandsRun, migrationIn } from './runs.ts';
import type { SharedPath } from './stack.ts';

export type Proposal = ReturnType<typeof propose>;

/** What almost every stack may answer on, asked in this order. */
const USUAL = ['/health', '/healthz', '/up', '/api/health', '/'];
const PORT = 3000;
const UNBUFFERED: ProposedSetting = {
  path: ['instances', 'default', 'env', 'PYTHONUNBUFFERED'],
  value: '1',
  reason: 'runner logs shows what print() writes at once',
};

/** Where an app is: the repository, and its folder in it. */
export interface Place {
  readonly top: Checkout;
  readonly dir: string;
}

/** The proposal for an app that was detected. Throws nothing: what is unsure is proven later. */
export function propose({ top, dir }: Place, detected: Detected) {
  const checkout = dir === '' ? top : top.below(dir);
  const { stack, installed } = detected;
  const within = (path: string) => (dir === '' ? path : path === '.' ? dir : `${dir}/${path}`);
  const start = startOf(checkout, detected);
  const build = buildLines({ top, dir }, detected);
  const shared = sharedOf(checkout, detected);
  const health = healthOf(checkout, detected);
  const lines = build.map((text) => ({ where: 'build', text }));
  if (start)
    lines.push({ where: start.reason === PROCFILE ? start.reason : 'start', text: start.run });
  const commands = lines.flatMap((line) => commandsRun(checkout, line));
  const own = start && ownPort(checkout, commands.map(({ text }) => text).join(' '));
  const settings: (ProposedSetting | undefined)[] = [
    start && {
      path: ['instances', 'default', 'env', 'PORT'],
      value: own?.value ?? String(stack.port ?? PORT),
      reason: own ? `${own.file}: its default` : 'where it listens',
    },
    ...Object.entries(stack.env ?? {}).map(([name, value]) => ({
      path: ['instances', 'default', 'env', name],
      value,
    })),
    start && stack.language === 'python' ? UNBUFFERED : undefined,
    build.length > 0 ? { path: ['build'], value: build, reason: buildReason(detected) } : undefined,
    ...startSettings(detected, start, dir),
    start && {
      path: ['health', 'url'],
      value: `http://127.0.0.1:\${PORT}${health.value}`,
      reason: health.reason,
    },
    shared.length > 0
      ? {
          path: ['shared'],
          value: shared.map(({ path }) => within(path)),
          reason: shared.map(({ path, why }) => `${path}: ${why}`).join('; '),
        }
      : undefined,
  ];
  return {
    stack: stack.name,
    /** The package manager; undefined if there is none. */
    manager: installed.name,
    /** Folder of the app in the repository; empty at its top. */
    dir,
    settings: settings.filter((each) => each !== undefined),
    /** Paths to ask for an answer, the most likely first; empty if nothing is started. */
    paths: start ? [...new Set([health.value, ...USUAL])] : [],
    /** The folder that a web server serves, if nothing is started. */
    output: start ? undefined : detected.output && within(detected.output),
    notes: notesOf(checkout, detected, { shared, migration: migrationIn(commands) }),
  };
}

/** What starts the app, and where that is written. */
interface StartLine {
  readonly run: string;
  readonly reason: string;
}

const PROCFILE = 'Procfile: web';

/** The Procfile counts for more than what is usual. */
function startOf(checkout: Checkout, { stack, start, installed }: Detected): StartLine | undefined {
  const web = stack.compose ? undefined : processIn(checkout, 'web');
  if (web !== undefined)
    return { run: onPath(web, stack.language, installed.vars), reason: PROCFILE };
  if (start === undefined) return undefined;
  const isScript = stack.start?.includes('{script:') ?? false;
  const script = /\{script:([\w:]+)\}/.exec(stack.start ?? '')?.[1];
  return { run: start, reason: isScript ? `package.json: scripts.${script}` : stack.name };
}

const SERVERS = /^(gunicorn|uvicorn|hypercorn|daphne|streamlit|flask)\b/;
const NODE_PROGRAMS = /^(?:\w+=\S* )*(?:npm|npx|node|yarn|pnpm|bun|bunx|corepack)\b/;

/** A command of a Procfile, whose programs are in the release and not on PATH. */
function onPath(command: string, language: string, vars: Readonly<Record<string, string>>): string {
  const python = vars.python ?? 'python3';
  if (language === 'python')
    return command
      .replace(SERVERS, `${python} -m $1`)
      .replace(/^waitress-serve\b/, `${python} -m waitress`)
      .replace(/^python3?\b/, python);
  const isBare = language === 'node' && /^[a-z][\w-]* /.test(command);
  return isBare && !NODE_PROGRAMS.test(command) ? `npx ${command}` : command;
}

function startSettings(
  { compose, output, stack }: Detected,
  start: StartLine | undefined,
  dir: string,
): ProposedSetting[] {
  const type = (value: string, reason: string) => ({ path: ['start', 'type'], value, reason });
  if (start) {
    const run = dir === '' ? start.run : `cd ${word(dir)} && ${start.run}`;
    return [
      type('process', 'runner starts it; type systemd also restarts it after a crash'),
      { path: ['start', 'run'], value: run, reason: start.reason },
    ];
  }
  if (compose === undefined) {
    const folder = [dir, output ?? ''].filter((part) => part !== '' && part !== '.').join('/');
    const shown = folder === '' ? '.' : folder;
    const site =
      stack.language === 'php'
        ? `PHP-FPM runs it: write its site yourself, for …/current/${folder}`
        : `a web server shows it: add a domain, then sudo runner setup <app> --public ${shown}`;
    return [type('none', site)];
  }
  const file = dir === '' ? compose : `${dir}/${compose}`;
  return [
    type('compose', file),
    ...(file === 'compose.yaml' ? [] : [{ path: ['start', 'file'], value: file }]),
  ];
}

/** In a workspace packages are installed at its top, and everything else happens in the app's folder. */
function buildLines({ top, dir }: Place, { build, installed, stack }: Detected): string[] {
  const lines = build.length > 0 || stack.missing === undefined ? build : installed.install;
  if (dir === '') return [...lines];
  const checkout = top.below(dir);
  const isAtTop = installed.file !== undefined && top.has(installed.file);
  const { name } = packageOf(checkout);
  return lines.map((line) => {
    if (isAtTop && installed.install.includes(line)) return line;
    if (name && line === `${installed.vars.run} build`) {
      if (top.has('turbo.json')) return `node_modules/.bin/turbo run build --filter=${word(name)}`;
      // First the packages of the workspace that it needs.
      if (isAtTop && top.has('pnpm-workspace.yaml') && installed.name === 'pnpm')
        return `pnpm --filter ${word(`${name}...`)} run build`;
    }
    return `cd ${word(dir)} && ${line}`;
  });
}

function buildReason({ installed, build, stack }: Detected): string {
  const isScript = build.some((line) => line.startsWith(`${installed.vars.run} `));
  const parts = [
    installed.file && build.includes(installed.install[0] ?? '')
      ? `${installed.file}: ${installed.name}`
      : undefined,
    isScript ? 'package.json: scripts.build' : undefined,
  ].filter((each) => each !== undefined);
  return parts.length > 0 ? parts.join('; ') : stack.name;
}

type SharedPlace = Pick<SharedPath, 'path' | 'why'>;

const EXAMPLES = ['.env.example', '.env.sample', '.env.dist', '.env.template'];

function sharedOf(checkout: Checkout, { stack, holds }: Detected): SharedPlace[] {
  const known = (stack.shared ?? []).filter(({ when }) => !when || holds(when));
  const example = EXAMPLES.find(checkout.has);
  const env = example ? [{ path: '.env', why: `${example} is its example` }] : [];
  const isSite = stack.start === undefined && processIn(checkout, 'web') === undefined;
  const written = isSite
    ? []
    : writtenPaths(checkout).map(({ value, file }) => ({ path: value, why: `written by ${file}` }));
  const all = [...known, ...(isSite && known.length === 0 ? [] : env), ...written];
  return all.filter(({ path }, at) => all.findIndex((each) => each.path === path) === at);
}

function healthOf(checkout: Checkout, { health }: Detected): { value: string; reason: string } {
  if (health !== undefined) return { value: health, reason: 'of the framework' };
  const [route] = healthRoutes(checkout);
  if (route) return { value: route.value, reason: route.file };
  return { value: '/', reason: 'no route for health was found' };
}
