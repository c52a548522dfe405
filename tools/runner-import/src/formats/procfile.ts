/** Procfile of Heroku, Dokku and foreman: one instance for each kind of process. */
import { word } from '@runner/common/text/shell';
import type { SourceEntry } from '../plan/entry.ts';
import { left, type Plan, refusalOf, to } from '../plan/plan.ts';
import { type ImportRule, none, type SourceFormat, setting } from '../plan/table.ts';
import { procfileEntries } from '../read/lines.ts';

const ONCE = /^(?:console|shell|bash|sh|rake|rails|run|manage)$/;

const nameIn = ({ path }: SourceEntry) => path[1] as string;
/** The kinds that run all the time. */
const isServed = (entry: SourceEntry) =>
  entry.path[0] === 'process' &&
  !/^(?:release|postdeploy)$/.test(nameIn(entry)) &&
  !ONCE.test(nameIn(entry));

/** The command of a kind of process; `finish` writes `start.run`, which has all of them. */
const served: ImportRule = (entry) => {
  if (entry.value === '') return left('has no command');
  if (!/^[A-Za-z0-9]/.test(nameIn(entry)) || nameIn(entry).length > 63)
    return left('is not the name of an instance');
  return refusalOf(entry) ?? to('start.run');
};
const once: ImportRule = (entry, { app }) =>
  refusalOf(entry) ??
  (entry.value === ''
    ? left('has no command')
    : to(`runner exec ${app} -- sh -c ${word(String(entry.value))}`));

function processes(plan: Plan, entries: readonly SourceEntry[]): void {
  const kept = entries.filter((entry) => isServed(entry) && 'to' in (plan.fates.get(entry) ?? {}));
  const all = new Map(kept.map((entry) => [nameIn(entry), entry]));
  // foreman and Heroku take the last of two with one name.
  for (const entry of kept)
    if (all.get(nameIn(entry)) !== entry)
      plan.fates.set(entry, left('a later line has the same name'));
  const [first, ...more] = [...all.values()];
  if (!first) return;
  plan.notes.add(
    'Heroku sets NODE_ENV, RAILS_ENV or RACK_ENV to production, also for the build: add that of your app to the env of its instances',
  );
  plan.derive('start.type', 'process', 'in the foreground; systemd would restart it after a crash');
  const web = all.get('web');
  const usesPort = web !== undefined;
  if (more.length === 0) {
    plan.set('start.run', first);
    if (usesPort) {
      plan.derive('instances.default.env.PORT', '3000', 'Heroku chooses it; here you do');
      plan.derive('health.tcp', '127.0.0.1:${PORT}', 'better is a url that answers 200');
    }
    return;
  }
  if (plan.has('hooks.pre_switch'))
    plan.notes.add(
      'Heroku runs release once, runner runs hooks.pre_switch for each instance: it must be safe to repeat',
    );
  for (const name of all.keys()) {
    if (name === 'web')
      plan.derive('instances.web.env.PORT', '3000', 'Heroku chooses it; here you do');
    else
      plan.settings.set(`instances.${name}.env.PROCESS`, {
        path: ['instances', name, 'env', 'PROCESS'],
        value: name,
        from: [],
      });
  }
  if (usesPort)
    plan.derive(
      'health.cmd',
      '[ "$RUNNER_INSTANCE" != web ] || curl --silent --output /dev/null "http://127.0.0.1:$PORT/"',
      'web answers; better is --fail, and a path for it',
    );
  const cases = [...all].map(([name, { value }]) => `${name}) ${value}\n;;`);
  plan.settings.set('start.run', {
    path: ['start', 'run'],
    value: `case "$RUNNER_INSTANCE" in\n${cases.join('\n')}\nesac`,
    from: [...all.values()],
  });
}

export const procfile: SourceFormat = {
  read: procfileEntries,
  table: [
    ['process.release', setting('hooks.pre_switch')],
    ['process.postdeploy', setting('hooks.post_deploy')],
    ['process.*', (entry, plan) => (isServed(entry) ? served : once)(entry, plan)],
    ['line', none('is not NAME: COMMAND')],
  ],
  finish: processes,
  unknown: 'is not NAME: COMMAND',
};
