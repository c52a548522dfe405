/** `--restart`: what a new value is for gets it at once. */
import type { CommandResult, Context } from '@runner/common/cli/command';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { runLife } from '@runner/deploy/life';
import type { LifeOutcome } from '@runner/deploy/lifecycle/verbs';
import type { SetSecrets } from './change.ts';
import { listSecrets } from './listing.ts';

/** Before anything is stored. Throws `approval_required`. */
export function requireRestart({ io, paths }: Server, app: string): void {
  const { counts } = approvalRuleOf(readConfig(paths), app);
  if (!counts.restart && io.env.RUNNER_GRANT === undefined) return;
  throw new Failure(
    'approval_required',
    `restart of '${app}' needs an approval, nothing was set: leave out --restart, then run runner plan restart ${word(app)}`,
  );
}

/** Restarts the instances that get a value, and adds how that ended to the answer, or the answer to the failure. */
export async function restartFor(
  context: Pick<Context, 'io' | 'paths' | 'note' | 'errStyle'>,
  app: string,
  instance: string | undefined,
  stored: SetSecrets,
): Promise<CommandResult> {
  const options = { instance, wait: undefined, events: false };
  const names = stored.secrets.map(({ name }) => name);
  const restarting = runLife({ ...context, options }, 'restart', app);
  const { value, status = 0 } = await restarting.catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    const message = `${names.join(', ')} was set, but not restarted: ${error.message}`;
    throw new Failure(error.code, message, { ...error.facts, ...stored }, error.cause);
  });
  const secrets = listSecrets(context, app).secrets.filter(({ name }) => names.includes(name));
  const { result, instances } = value as LifeOutcome;
  for (const { instance: name, error } of instances)
    if (error !== undefined) context.note(`${name}: ${error}`);
  const text = `${stored.text.replace(/; .*$/, '')}; ${result === 'failed' ? 'the restart failed' : 'restarted'}`;
  return { value: { ...stored, secrets, text, restart: value }, status };
}
