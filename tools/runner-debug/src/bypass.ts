/** `--insecure`: reads despite a tripped guard, with a banner and an audit record. */
import { appendEvents } from '@runner/common/audit/append';
import type { DeployEvent } from '@runner/common/audit/events';
import { keepForLater } from '@runner/common/audit/kept';
import type { Context } from '@runner/common/cli/command';
import { failureIn } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { loginName } from '@runner/common/foundation/user';
import type { Tripped } from '@runner/common/guards/check';
import { harmlessLine } from '@runner/common/text/harmless';

/**
 * Prints the banner and appends a `GuardBypassed` record, whether or not a guard tripped. Throws
 * `audit_unwritable` if the record cannot be appended: an unrecorded bypass is refused.
 */
export function bypassGuards(
  { io, paths, title, errStyle }: Context,
  app: string,
  tripped: readonly Tripped[],
): void {
  const lines = [
    'INSECURE: the security guards are bypassed; the audit log records this',
    ...(tripped.length === 0 ? ['no guard tripped: --insecure is not needed'] : []),
    ...tripped.map(({ why, fix }) => `bypassed: ${why}; to fix it: ${fix}`),
  ];
  for (const line of lines) io.stderr.write(`${errStyle.red(`*** ${harmlessLine(line)} ***`)}\n`);
  const { SUDO_USER: sudoUser } = io.env;
  record(paths, {
    timestamp: io.now().toISOString(),
    event_type: 'GuardBypassed',
    project: app,
    instance: 'default',
    version: '',
    deploy_id: null,
    event: 'GuardBypassed',
    app,
    guards: tripped.map(({ guard, path }) => ({ guard, path })),
    command: title,
    user: loginName(io),
    uid: io.uid,
    ...(sudoUser && { sudo_user: sudoUser }),
  });
}

function record(paths: Paths, event: DeployEvent): void {
  const busy = failureIn(() => appendEvents(paths, [event]));
  const failure = busy?.code === 'audit_busy' ? failureIn(() => keepForLater(paths, event)) : busy;
  if (!failure) return;
  const words = `--insecure is refused because it cannot be recorded: ${failure.message}`;
  throw new Failure(failure.code, words);
}
