/** `--restart`: what a new value is for gets it at once. */
import type { CommandResult, Context } from '@runner/common/cli/command';
import { runLife } from '@runner/deploy/life';
import type { LifeOutcome } from '@runner/deploy/lifecycle/verbs';
import type { SetSecrets } from './change.ts';
import { listSecrets } from './listing.ts';

/** Restarts the instances that get a value, and adds how that ended to the answer. */
export async function restartFor(
  context: Pick<Context, 'io' | 'paths' | 'note' | 'errStyle'>,
  app: string,
  instance: string | undefined,
  stored: SetSecrets,
): Promise<CommandResult> {
  const options = { instance, wait: undefined, events: false };
  const { value, status = 0 } = await runLife({ ...context, options }, 'restart', app);
  const names = stored.secrets.map(({ name }) => name);
  const secrets = listSecrets(context, app).secrets.filter(({ name }) => names.includes(name));
  const { result, instances } = value as LifeOutcome;
  for (const { instance: name, error } of instances)
    if (error !== undefined) context.note(`${name}: ${error}`);
  const text = `${stored.text.replace(/; .*$/, '')}; ${result === 'failed' ? 'the restart failed' : 'restarted'}`;
  return { value: { ...stored, secrets, text, restart: value }, status };
}
