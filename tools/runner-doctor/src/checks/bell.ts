/** Whether a call from a code host starts a fetch: the bell's units, and calls that wait. */
import { statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { findApp } from '@runner/common/apps/store';
import { namesIn } from '@runner/common/files/read';
import { DEFAULT_ROOT, type Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { type Findings, ok, orOk, problem, warning } from '../foundation/finding.ts';
import { runOwnTool } from '../foundation/program.ts';
import { showUnits, type UnitProperties, unitFindings } from '../foundation/systemd.ts';
import { bellFiles } from './bell-files.ts';

const UNITS = {
  'runner-bell.socket': 'calls from the code host are not received',
  'runner-bell.path': 'calls do not start a fetch',
} as const;
const FOLDER = '/var/lib/runner-bell';
/** In milliseconds. */
const TIMEOUT = 15_000;
/** No fetch has handled a call that waits longer, in milliseconds. */
const LONG = 1_800_000;

interface BellStatus {
  readonly app: string;
  readonly last_call: string | null;
}

export async function bell(context: Server): Promise<Findings> {
  const { io, paths } = context;
  // The units of the package ring for the installed root alone.
  if (!io.env.RUNNER_BELL_DIR && paths.root !== DEFAULT_ROOT && namesIn(FOLDER).length > 0)
    return ok(`${FOLDER} is the bell of ${DEFAULT_ROOT}`);
  const dir = io.env.RUNNER_BELL_DIR || FOLDER;
  if (namesIn(dir).length === 0) return ok('no app has a bell');
  const asked = await runOwnTool<BellStatus>(context, 'runner-bell', ['list', '--dir', dir], {
    wanted: 'bells',
    purpose: 'the bell could not be checked',
    again: 'runner bell list',
  });
  if ('found' in asked) return [asked.found];
  const bells = asked.answer;
  if (bells.length === 0) return ok('no app has a bell');
  const apps = bells.map(({ app }) => app);
  const last = bells
    .map(({ last_call: time }) => time ?? '')
    .sort()
    .at(-1);
  const found = [
    ...apps.flatMap((app) => registered(context, app)),
    await unitsOf(context),
    await bellFiles(context, dir, apps),
    unhandledCalls(context, join(dir, 'wake')),
  ];
  return orOk(
    found,
    `the bell of ${apps.join(', ')} is set up; ${last ? `last call ${last}` : 'no call yet'}`,
  );
}

function registered({ paths }: Server, app: string): Findings {
  if (findApp(paths, app)) return [];
  return warning(`'${app}' has a bell but is not registered`, `runner bell remove ${word(app)}`);
}

/** Without systemd another process listens, which is not checked. */
async function unitsOf({ io }: Server): Promise<Findings> {
  const names = Object.keys(UNITS) as (keyof typeof UNITS)[];
  const shown = await showUnits(io, names, ['Listen']);
  if (!shown) return [];
  const found = names.flatMap((name) => {
    const unit = shown(name);
    if (!unit) return [];
    if (unit.LoadState !== 'not-found') return unitFindings(name, UNITS[name], unit);
    const install = 'apt-get install ./runner-bell_*_all.deb';
    return warning(`${name} is not installed: ${UNITS[name]}`, install);
  });
  const socket = shown('runner-bell.socket');
  return found.length > 0 || !socket ? found : answering(socket);
}

/** Whether the bell answers: it refuses every GET with 405. */
async function answering({ Listen = '' }: UnitProperties): Promise<Findings> {
  const [, host = '', port] = /^(\S*?):?(\d+) \(Stream\)/.exec(Listen) ?? [];
  if (port === undefined) return [];
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const address = { host: /^(?:0\.0\.0\.0|::|)$/.test(bare) ? '127.0.0.1' : bare, port };
  const status = await new Promise<number | undefined>((resolve) => {
    const call = request({ ...address, agent: false, timeout: TIMEOUT }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on('error', () => resolve(undefined));
    call.on('timeout', () => call.destroy());
    call.end();
  });
  if (status === 405) return [];
  const what =
    status === undefined ? 'does not answer' : `answers with status ${status} instead of 405`;
  return problem(`the bell on port ${port} ${what}`, "journalctl -n 20 -u 'runner-bell@*'");
}

/** A call that no fetch has handled: the path unit or the service does not work. */
function unhandledCalls({ io }: Server, wake: string): Findings {
  const old = namesIn(wake).find((name) => {
    const stats = statSync(join(wake, name), { throwIfNoEntry: false });
    return stats !== undefined && io.now().getTime() - stats.mtimeMs > LONG;
  });
  if (old === undefined) return [];
  const what = `a call for ${old} has waited for more than half an hour`;
  return problem(what, 'journalctl -n 50 -u runner-fetch.service -u runner-bell.path');
}
