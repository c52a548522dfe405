/** Deploying several apps, one after the other. */

import { listApps, requireApp } from '@runner/common/apps/store';
import type { CommandResult, Context } from '@runner/common/cli/command';
import { onFailure } from '@runner/common/foundation/attempt';
import { EXIT, notProvided, usage } from '@runner/common/foundation/failure';
import { redactor } from '@runner/common/secrets/redactor';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Interruption } from '@runner/deploy/report/interruption';

/** What chooses the apps. */
interface AppsChoice {
  readonly args: { readonly apps: readonly string[] };
  readonly options: { readonly all: boolean; readonly 'deploy-id': string | undefined };
}

/** The apps that were named, or all, each once. Throws `usage`, `app_not_found`. */
export function chosenApps({
  paths,
  note,
  args: { apps },
  options,
}: AppsChoice & Pick<Context, 'paths' | 'note'>): readonly string[] {
  if (options.all && apps.length > 0)
    throw usage("the argument '--all' cannot be used with '[APPS]...'");
  if (options.all) {
    const { apps: all, unreadable } = listApps(paths);
    for (const { failure } of unreadable) note(`${failure.message} (${failure.code})`);
    // What was rolled back stays so, unless its app is named.
    for (const { app } of all.filter(({ held }) => held))
      note(`${app} is on hold, and is left out: runner deploy ${app}`);
    return [...all.filter(({ held }) => !held), ...unreadable].map(({ app }) => app).sort();
  }
  if (apps.length === 0) throw notProvided('<APP|--all>; runner list shows all apps');
  const names = [...new Set(apps)];
  if (names.length === 1) return names;
  if (options['deploy-id'] !== undefined)
    throw usage("the argument '--deploy-id <ID>' takes one app: a deploy has its own id");
  // A mistyped name is found before anything is deployed.
  for (const name of names) requireApp(paths, name);
  return names;
}

/** The worst status of several, the first of these that occurred. */
const WORST = [EXIT.rollbackFailed, EXIT.failed, EXIT.usage, EXIT.busy];

/**
 * Prints an answer for each app; one that fails or is refused does not keep the next from being
 * deployed, but a signal does.
 */
export async function oneAfterTheOther(
  { format, note, print }: Pick<Context, 'format' | 'note' | 'print'>,
  apps: readonly string[],
  interruption: Interruption,
  deployOne: (app: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  const statuses: number[] = [];
  for (const app of apps) {
    const { value, status = EXIT.ok } = await answerOf(app, note, deployOne);
    if (value !== undefined && (format !== 'human' || !isRefusal(value))) await print(value);
    if (interruption.by) return { status };
    statuses.push(status);
  }
  return { status: WORST.find((each) => statuses.includes(each)) ?? EXIT.ok };
}

function answerOf(
  app: string,
  note: Context['note'],
  deployOne: (app: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  const refused = onFailure((failure): CommandResult => {
    const { code: error, facts, status } = failure;
    const message = harmlessLine(redactor()(failure.message));
    note(`${app}: ${message} (${error})`);
    return { value: { app, ...facts, error, message }, status };
  });
  return deployOne(app).catch(refused);
}

/** Of an app whose deploy did not begin: for people it is a line on stderr. */
const isRefusal = (value: unknown) => !Object.hasOwn(Object(value), 'commit');
