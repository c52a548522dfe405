/** What is said about a proposal: what does not run, and what does. */
import type { Checkout } from '../look/checkout.ts';
import { processIn, processNames } from '../look/sources.ts';
import type { Detected } from './detect.ts';
import type { WrittenCommand } from './runs.ts';

/** What an operator has to know. */
export function notesOf(
  checkout: Checkout,
  { notes, stack, migrate }: Detected,
  {
    shared,
    migration,
  }: { shared: readonly { path: string }[]; migration?: WrittenCommand | undefined },
): string[] {
  const release = processIn(checkout, 'release');
  const others = processNames(checkout).filter((name) => !/^(?:web|release)$/.test(name));
  const files = shared.filter(({ path }) => !path.endsWith('/')).map(({ path }) => path);
  const hasCompose =
    stack.compose === undefined && checkout.files.some((each) => COMPOSE.test(each));
  return [
    ...(release ? [`not run: the Procfile's release, ${release}; see hooks.pre_switch`] : []),
    ...(migration
      ? [`migrations run, in the proof too: ${migration.where} has \`${migration.text}\``]
      : migrate && !release
        ? [
            `migrations are not run: once DATABASE_URL is set, add migrate: ${migrate} (it must use that variable: docs/database.md)`,
          ]
        : []),
    ...notes,
    ...others.map(
      (name) =>
        `not started: the Procfile's ${name}, ${processIn(checkout, name)}; runner import procfile Procfile makes it an instance`,
    ),
    ...(files.length > 0
      ? [`before the first deploy, create ${files.join(' and ')} in the folder shared`]
      : []),
    ...IMPORTED.filter(([file]) => checkout.has(file)).map(
      ([file, format]) => `${file} is not read: see runner import ${format} ${file}`,
    ),
    ...(hasCompose ? ['the compose file is not used: start.type compose would start it'] : []),
  ];
}

/** Files of other tools, with the format of `runner import`. */
const IMPORTED = [
  ['ecosystem.config.js', 'pm2'],
  ['ecosystem.config.cjs', 'pm2'],
  ['config/deploy.yml', 'kamal'],
  ['config/deploy.rb', 'capistrano'],
  ['config/schedule.rb', 'whenever'],
] as const;
const COMPOSE = /^(?:docker-)?compose\.ya?ml$/;
