/** A result as one line for people. */

import type { Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Result } from './delivery.ts';

const COLOURS = {
  delivered: 'green',
  queued: 'yellow',
  skipped: 'dim',
  dry_run: 'cyan',
  failed: 'red',
  rejected: 'red',
} as const;

/** `delivered  telegram  DeployStarted shop v1 [a1b2c3d4], 1 message`; of a dry run the payloads below it. */
export function resultLine(result: Result, style: Style): string {
  const { event_type, project, version, deploy_id } = result;
  const word = result.result === 'dry_run' ? 'would send' : result.result;
  const outcome = style[COLOURS[result.result]](word.padEnd(9));
  const what = harmlessLine(`${event_type} ${project} ${version} [${deploy_id}]`);
  const line = `${outcome}  ${(result.channel ?? '-').padEnd(8)}  ${what}, ${endOf(result)}\n`;
  const payloads = (result.payloads ?? []).map(
    (payload) => `${harmlessLine(JSON.stringify(payload))}\n`,
  );
  return line + payloads.join('');
}

function endOf({ result, messages, payloads, reason, description, maybe_duplicate }: Result) {
  const count = payloads?.length ?? messages;
  if (result === 'delivered' || result === 'dry_run') {
    const twice = maybe_duplicate ? ', maybe twice' : '';
    return `${count} ${count === 1 ? 'message' : 'messages'}${twice}`;
  }
  return reason ?? harmlessLine(description ?? 'no reason is known');
}
