import { repoLabel } from '@runner/common/apps/following';
import type { InstanceSummary } from '@runner/common/apps/instance-summary';
import { shownHoldWords } from '@runner/common/apps/operator';
import { allNames, listApps, missingRoot } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import { command } from '@runner/common/cli/command';
import { type Style, table } from '@runner/common/cli/output';
import { isThere } from '@runner/common/files/read';
import { harmlessLine } from '@runner/common/text/harmless';
import { OFFLINE, viewOf } from '@runner/deploy/lifecycle/view';

/** What `list` prints. */
interface AppListing {
  count: number;
  apps: AppSummary[];
  /** Names of apps whose state cannot be read; they do not count. */
  unreadable: string[];
}

export const list = command({
  about: 'Show the registered apps and what is running',
  details:
    'States: ok, new (never deployed), held (a commit is on hold), asleep (the next request wakes it),\n' +
    'paused, stopped, failing, stale (fetch cannot check for new commits), blocked (the same commit failed\n' +
    'too often), down (an instance is not running), broken (the previous version did not start either),\n' +
    'interrupted (the deploy was cancelled or killed), deploying. Supervisors have 2 s to answer. An app\n' +
    'that cannot be read is reported on stderr; the exit status is then 1.',
  options: { offline: OFFLINE, previews: { about: 'List previews too' } },
  safeInForeignRoot: true,
  instead: { '--wide': '--json, which shortens nothing, or runner status <app>' },
  async run({ io, paths, options, format, note }) {
    const missing = format === 'human' ? undefined : missingRoot(paths);
    if (missing) note(missing);
    const { apps, unreadable } = listApps(paths, options.previews ? allNames(paths) : undefined);
    const view = await viewOf({ io, paths }, apps, options.offline);
    for (const { failure } of unreadable) note(`${failure.message} (${failure.code})`);
    const value: AppListing = {
      count: apps.length,
      apps: apps.map((app) => summaryOf(paths, app, view)),
      unreadable: unreadable.map(({ app }) => app),
    };
    return { value, status: unreadable.length > 0 ? 1 : 0 };
  },
  human({ apps, unreadable }: AppListing, style, { io, paths }) {
    if (apps.length + unreadable.length === 0) {
      const none = isThere(paths.root)
        ? 'No apps yet'
        : `No apps yet: ${harmlessLine(paths.root)} does not exist`;
      return `${none}. Register one with: runner add <owner/name>\n`;
    }
    const hasAddress = apps.some(({ instances }) => instances.some(({ url }) => url !== null));
    const heading = hasAddress ? HEADING.toSpliced(-1, 0, 'URL') : HEADING;
    const rows = apps.flatMap((app) => {
      const instances = app.instances.length > 0 ? app.instances : [undefined];
      const rowsOf = (each: InstanceSummary | undefined) =>
        hasAddress ? rowOf(app, each).toSpliced(-1, 0, each?.url ?? '-') : rowOf(app, each);
      return instances.map((instance) => rowsOf(instance));
    });
    const waiting = apps.flatMap(({ app, plans, traffic_hold: hold }) => [
      ...plans.map(({ verb, version, waits }) => `${verb} of ${app} ${version} ${waits}`),
      ...(hold ? [`${app}: ${shownHoldWords(app, hold)}`] : []),
    ]);
    const paint = (line: string, row: readonly string[]) => withColour(line, row, style);
    return (
      table(heading, rows, style, { stdout: io.stdout, paint }) +
      waiting.map((line) => `${harmlessLine(line)}\n`).join('')
    );
  },
});

/** STATE stands where a narrow terminal does not cut it. */
const HEADING = ['APP', 'STATE', 'INSTANCE', 'VERSION', 'SINCE (UTC)', 'SOURCE'];

function rowOf(app: AppSummary, instance: InstanceSummary | undefined): string[] {
  return [
    app.app,
    stateOf(app, instance),
    instance?.instance ?? '-',
    instance?.restored
      ? `${instance.restored.version} (to deploy)`
      : (instance?.current?.version ?? '-'),
    instance?.active_since?.slice(0, 16).replace('T', ' ') ?? '-',
    `${repoLabel(app)}#${app.tags ? `${app.tags.pattern} ${app.tags.semver ?? ''}`.trim() : app.branch}${app.paths ? `:${app.paths.join(',')}` : ''}`,
  ];
}

/** The state in colour, unless it is cut: it follows the name of the app, which has no spaces. */
function withColour(line: string, [, state = '']: readonly string[], style: Style): string {
  const colour = style[COLOURS[state] ?? 'yellow'];
  return line.replace(/(?<=^\S+ +)[a-z]+/, (word) => (word === state ? colour(word) : word));
}

/** Other states are yellow. */
const COLOURS: Readonly<Record<string, 'green' | 'red' | 'cyan'>> = {
  ok: 'green',
  deploying: 'cyan',
  failing: 'red',
  blocked: 'red',
  stale: 'red',
  down: 'red',
  broken: 'red',
  interrupted: 'red',
};

/** States that only some instances of an app may be in. */
const APART: readonly string[] = ['down', 'broken', 'stopped', 'asleep'];

/** An instance is not `down` because another one of its app is. */
function stateOf({ state }: AppSummary, instance: InstanceSummary | undefined): string {
  if (!instance || !APART.includes(state)) return state;
  if (instance.broken) return 'broken';
  if (instance.stopped) return 'stopped';
  if (instance.running === false) return 'down';
  if (instance.asleep) return 'asleep';
  return instance.current ? 'ok' : state;
}
