/** The user, the units and the access lists of an app that systemd runs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SLOTS } from '@runner/common/apps/slots';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { StartOf } from '@runner/common/deploy-file/start';
import { foreignOwner } from '@runner/common/files/foreign-root';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure, usage } from '@runner/common/foundation/failure';
import { unitOf, unitsOf } from '@runner/deploy/instances/drivers/unit-state';
import { etcOf } from '@runner/deploy/instances/setup-record';
import { memoryFoldersOf } from '@runner/deploy/sandbox/hidden';
import { accountOf } from '../app/programs.ts';
import { entryOf } from '../steps/machine.ts';
import type { Thing } from '../steps/thing.ts';
import type { AppNeeds, NeededThings } from './needs.ts';
import { dropInText, execStart, unitText } from './unit-text.ts';

const NOTHING: NeededThings = { things: [], notes: [] };
/** Units of packages. */
const VENDOR = ['/usr/lib/systemd/system', '/lib/systemd/system'];

export function unitThings(needs: AppNeeds): NeededThings {
  const { start } = needs.file;
  if (start.type !== 'systemd') {
    const by = start.type === 'none' ? 'nothing starts it' : `start.type is ${start.type}`;
    const how = `; for --run, write start: { type: systemd, unit: ${needs.app}.service } into .deploy.yml`;
    const words = `no user, unit or access list is needed: ${by}`;
    return { things: [], notes: [needs.choices.run === undefined ? words : words + how] };
  }
  if (start.user) {
    const words = 'its units belong to the user of runner (start.user): setup does not make them';
    return { things: [], notes: [words] };
  }
  const template = templateOf(start.unit);
  const units = [...new Set(needs.file.instances.flatMap((each) => unitsOf(start.unit, each)))];
  const names = template === undefined ? units : [template];
  refuseForeignUnits(names);
  const files = unitFiles(needs, start, names);
  const lines: Thing[] = names.map((line) => ({ kind: 'line', path: listOf(needs), line }));
  const paths = files.things.flatMap((each) => (each.kind === 'file' ? [each.path] : []));
  const reload: Thing = {
    kind: 'reload',
    name: 'systemd',
    test: undefined,
    run: [['systemctl', 'daemon-reload']],
    back: [['systemctl', 'daemon-reload']],
    paths,
  };
  const isPlain = (each: Instance) => !each.traffic;
  const atBoot = needs.file.instances.filter(isPlain).flatMap((each) => unitsOf(start.unit, each));
  const enabled = [...new Set(atBoot)].map((unit): Thing => ({ kind: 'enabled', unit }));
  return {
    things: [
      ...userThings(needs, names),
      ...files.things,
      ...(paths.length > 0 ? [reload] : []),
      ...lines,
      ...enabled,
    ],
    notes: files.notes,
  };
}

const listOf = ({ machine }: AppNeeds) => join(etcOf(machine.env), 'runner/units');
const unitPath = ({ machine }: AppNeeds, name: string) =>
  join(etcOf(machine.env), 'systemd/system', name);

/** `shop@.service` for `shop@.service` and `shop@%i.service`; undefined for units without a template. */
function templateOf(unit: string): string | undefined {
  const name = unit.replace('@%i.', '@.');
  return name.includes('@.') && !name.includes('%') ? name : undefined;
}

function refuseForeignUnits(names: readonly string[]): void {
  for (const name of names) {
    if (!name.endsWith('.service') || name.includes('%'))
      throw new Failure(
        'setup_failed',
        `${name} is not the name of a service: setup makes app.service`,
      );
    const folder = VENDOR.find((each) => existsSync(join(each, name)));
    if (folder !== undefined)
      throw new Failure(
        'foreign_file',
        `${join(folder, name)} belongs to a package: name a unit of the app's own in start.unit`,
      );
  }
}

/** What `User=` of a unit says that a person wrote. */
function writtenUser(needs: AppNeeds, names: readonly string[]): string | undefined {
  const texts = names.map((name) => orElse(() => readFileSync(unitPath(needs, name), 'utf8'), ''));
  return texts.map((text) => /^User=(.+)$/m.exec(text)?.[1]).find((name) => name);
}

const USER_NAME = /^[a-z_][a-z0-9_-]{0,31}$/;

function userOf(needs: AppNeeds, names: readonly string[]): string {
  const { machine, app, choices } = needs;
  const chosen = choices.user ?? writtenUser(needs, names);
  const user = chosen ?? app;
  if (!USER_NAME.test(user))
    throw usage(`'${user}' cannot be the name of a user: add --user <NAME>`);
  const { io, paths } = machine.server;
  const owner = foreignOwner(io.uid, paths);
  const isOwner = owner !== undefined && accountOf(io.env, String(owner))[0] === user;
  if (user === 'root' || isOwner)
    throw usage(`an app does not run as ${user}: add --user <NAME>, or remove User= from its unit`);
  const isOurs = entryOf(machine, { kind: 'user', name: user }) !== undefined;
  if (chosen === undefined && !isOurs && accountOf(machine.env, user).length > 0)
    throw usage(
      `the user ${user} exists and setup did not create it: add --user ${user} to use it`,
    );
  return user;
}

/** The user, and what it may enter: the releases and instances of its app alone. */
function userThings(needs: AppNeeds, names: readonly string[]): Thing[] {
  const { machine, app, choices } = needs;
  // A unit that a person wrote for root.
  if (choices.run === undefined && writtenUser(needs, names) === undefined) return [];
  const user = userOf(needs, names);
  const { root, app: appPaths } = machine.server.paths;
  const { dir, releases, instances } = appPaths(app);
  const pass = [root, join(root, 'apps'), dir];
  return [
    { kind: 'user', name: user },
    ...[releases, instances].map((path): Thing => ({ kind: 'folder', path })),
    ...pass.map((path): Thing => ({ kind: 'access', path, user, rights: 'x' })),
    ...[releases, instances].map((path): Thing => ({ kind: 'access', path, user, rights: 'rX' })),
  ];
}

/** The unit files. Without a command, those that a person wrote stay as they are. */
function unitFiles(
  needs: AppNeeds,
  start: StartOf<'systemd'>,
  names: readonly string[],
): NeededThings {
  const { run } = needs.choices;
  if (run !== undefined)
    return { ...NOTHING, things: textsOf(needs, start, names, execStart(run)) };
  const { dir } = needs.machine.server.paths.app(needs.app);
  for (const name of names) {
    const path = unitPath(needs, name);
    if (!existsSync(path))
      throw usage(
        `what ${name} should run is not known: add --run, such as --run 'node server.js'`,
      );
    // The commit names the unit: it must not get hold of another one.
    if (!orElse(() => readFileSync(path, 'utf8'), '').includes(`${dir}/`))
      throw new Failure(
        'foreign_file',
        `${path} does not run in ${dir}: it is not a unit of this app`,
      );
  }
  return { ...NOTHING, notes: [`${names.join(', ')}: left as they are`] };
}

function textsOf(
  needs: AppNeeds,
  start: StartOf<'systemd'>,
  names: readonly string[],
  command: string,
): Thing[] {
  const { app, file, machine } = needs;
  const { instances: folder } = machine.server.paths.app(app);
  const secretsIn = join(memoryFoldersOf(machine.server.paths.root, {})[0] ?? '', app);
  const slotted = file.instances.find(({ traffic }) => traffic);
  const first = slotted ?? file.instances[0];
  const isTemplate = templateOf(start.unit) !== undefined;
  const isOne = file.instances.length === 1;
  const socket = file.instances.some(({ traffic }) => traffic?.type === 'socket');
  const isMixed = slotted !== undefined && file.instances.some(({ traffic }) => !traffic);
  const base = { app, user: userOf(needs, names), umask: socket ? '0007' : '0027', command };
  const texts = names.map((name): Thing => {
    const of = isTemplate ? undefined : instanceOf(needs, start.unit, name);
    const instance = of?.instance ?? first;
    const slots = instance?.traffic !== undefined;
    const place = of ? join(of.instance.name, of.slot ?? '') : slots ? '%I' : '%i';
    const own = of !== undefined || isOne;
    const settings = {
      ...base,
      folder: join(folder, place),
      slots: slots && (of === undefined && isMixed ? ('-' as const) : ('' as const)),
      socket: slots && instance?.traffic?.type === 'socket',
      env: own ? (instance?.env ?? {}) : {},
      secrets: own ? join(secretsIn, `${instance?.name}.env`) : undefined,
    };
    return { kind: 'file', path: unitPath(needs, name), text: unitText(settings) };
  });
  if (!isTemplate || isOne) return texts;
  const dropIns = file.instances.flatMap((instance) =>
    unitsOf(start.unit, instance).map((unit): Thing => {
      const own = { env: instance.env, secrets: join(secretsIn, `${instance.name}.env`) };
      return {
        kind: 'file',
        path: unitPath(needs, `${unit}.d/runner.conf`),
        text: dropInText(app, own),
      };
    }),
  );
  return [...texts, ...dropIns];
}

/** The instance and slot of a unit without a template. */
function instanceOf({ file }: AppNeeds, unit: string, name: string) {
  for (const instance of file.instances)
    for (const slot of instance.traffic ? SLOTS : [undefined])
      if (unitOf(unit, instance.name, slot) === name) return { instance, slot };
  return undefined;
}
