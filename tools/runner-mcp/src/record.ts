/** The audit record of a call. */
import { isViewer } from '@runner/common/apps/viewed';
import { appendEvents } from '@runner/common/audit/append';
import { hashOf } from '@runner/common/audit/chain';
import type { DeployEvent } from '@runner/common/audit/events';
import { keepForLater } from '@runner/common/audit/kept';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { loginName } from '@runner/common/foundation/user';

/** A call that begins, was answered, or refused. */
export interface RecordedCall {
  readonly grant: string | undefined;
  readonly tool: string;
  /** `-`: of no app, or of one that is not the grant's. */
  readonly app: string;
  /** `begun`, before its effect; then `done`, `running`, or the code of the failure. */
  readonly outcome: string;
  /** Of `apply`. */
  readonly plan: string | undefined;
  readonly args: unknown;
}

/** Members of `runner-view` may look without a record. Throws `audit_unwritable`. */
export function recordCall({ io, paths }: Server, call: RecordedCall): void {
  if (isViewer(paths)) return;
  const { grant = '', tool, app, outcome, plan, args } = call;
  // Not the arguments: whatever a model was made to write would be in the log.
  const hash = hashOf(JSON.stringify(args) ?? '');
  const event: DeployEvent = {
    timestamp: io.now().toISOString(),
    event_type: 'AgentCall',
    project: app,
    instance: 'default',
    version: '',
    deploy_id: null,
    event: 'AgentCall',
    app,
    grant,
    tool: tool.slice(0, 40),
    outcome,
    arguments: hash,
    ...(plan !== undefined && { plan }),
    user: loginName(io),
  };
  try {
    appendEvents(paths, [event]);
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'audit_busy')) throw error;
    keepForLater(paths, event);
  }
}
