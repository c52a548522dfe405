/** A server's result, as the commands print it. */
import type { Style } from '@runner/common/cli/output';
import { EXIT } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';
import type { FleetServer } from '@runner/fleet/files/operator';
import { receive } from '@runner/fleet/order/received';
import { isDone, type OrderResult, resultField } from '@runner/fleet/order/result';
import { sealedTextOf } from '@runner/fleet/order/seal';

/** Why a server has no result. */
type Missing = 'no_answer' | 'not_ordered';

/** One line of `--json`. */
export interface ServerLine extends Partial<Omit<OrderResult, 'status'>> {
  readonly server: string;
  /** unreadable: the server signed a result that cannot be read, or that answers another order. */
  readonly status: OrderResult['status'] | Missing | 'unreadable';
  readonly message: string;
}

/** The line of a server without a result. */
export const noAnswer = (
  { server }: FleetServer,
  message = 'no answer yet: the order waits',
  status: Missing = 'no_answer',
): ServerLine => ({ server, status, message });

const isMissing = ({ status }: ServerLine) => status === 'no_answer' || status === 'not_ordered';

/** The line of a server whose result does not count. */
export const unreadable = (server: string, message: string): ServerLine => ({
  server,
  status: 'unreadable',
  message,
});

/** The result in a message, also one that cannot be read; undefined unless one of these servers signed it. */
export function receivedLine(
  message: string,
  servers: readonly FleetServer[],
): ServerLine | undefined {
  const name = sealedTextOf(message)?.server;
  const from = servers.find(({ server }) => server === name);
  const received = from && receive('result', message, from, resultField);
  if (!received) return undefined;
  if ('value' in received) return { server: from.server, ...received.value };
  return received.isSigned ? unreadable(from.server, received.problem) : undefined;
}

export function lineText(line: ServerLine, style: Style): string {
  const { server, status, version, previous_version: previous, message, deploy_id: id } = line;
  const good = isGood(line);
  const moved = [previous, version].filter(Boolean).map((each) => harmlessLine(each ?? ''));
  const parts = [good ? moved.join(' -> ') : '', harmlessLine(message)].filter(Boolean);
  const what = parts.join('; ');
  const time = line.duration_ms ? `  ${durationText(line.duration_ms)}` : '';
  const word = (good ? style.green : style.red)(status.padEnd(11));
  return `${server.padEnd(12)}  ${word}  ${what}${time}${id ? ` [${harmlessLine(id)}]` : ''}\n`;
}

/** Whether the server carried the order out. */
export function isGood({ verb, status }: ServerLine): boolean {
  // Without a result there is no verb.
  return verb !== undefined && isDone({ verb, status: status as OrderResult['status'] });
}

/** Whether `resume` leaves the server out: it has carried the order out, or tried to and was not killed. */
export const isFinished = (line: ServerLine | undefined): line is ServerLine =>
  line !== undefined &&
  (isGood(line) || (typeof line.n === 'number' && line.code !== 'interrupted'));

/** Exit status: some servers have not answered; their orders wait. */
export const NO_ANSWER = 4;

/** The exit status for these results. */
export function statusOf(lines: readonly ServerLine[]): number {
  if (lines.some(({ rollback_failed: failed }) => failed)) return EXIT.rollbackFailed;
  if (lines.some((line) => !isMissing(line) && !isGood(line))) return EXIT.failed;
  return lines.some(isMissing) ? NO_ANSWER : EXIT.ok;
}
