/** What is said about a proposal: what does not run, and what does. */
import type { Checkout } from '../look/checkout.ts';
import { processIn } from '../look/sources.ts';
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
  const worker = processIn(checkout, 'worker');
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
    ...(worker ? [`not started: the Procfile's worker, ${worker}`] : []),
    ...(files.length > 0
      ? [`before the first deploy, create ${files.join(' and ')} in the folder shared`]
      : []),
    ...(hasCompose ? ['the compose file is not used: start.type compose would start it'] : []),
  ];
}

const COMPOSE = /^(?:docker-)?compose\.ya?ml$/;
