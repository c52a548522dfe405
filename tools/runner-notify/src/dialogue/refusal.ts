/** A refusal by a service, as the failure of the command. */

import type { ChannelName } from '@runner/common/config/channels';
import { Failure, type FailureCode } from '@runner/common/foundation/failure';
import type { ServiceProblem } from '../service/contract.ts';
import { problemText } from '../service/problem-text.ts';

/** Whether the credentials were refused, so that other ones may help. */
export function isRefused({ http_status }: ServiceProblem): boolean {
  return http_status === 401 || http_status === 404;
}

/** One sentence with the hint, and the problem's fields for `--json`. */
export function refusalOf(channel: ChannelName, problem: ServiceProblem): Failure {
  const code: FailureCode =
    problem.http_status === null
      ? 'network_error'
      : problem.http_status === 401
        ? 'token_invalid'
        : 'delivery_failed';
  return new Failure(code, refusalText(channel, problem), { channel, ...problem });
}

/** `telegram: Unauthorized (getMe, 401); check the bot token …`. */
export function refusalText(channel: ChannelName, problem: ServiceProblem): string {
  return `${channel}: ${problemText(problem)}${problem.hint ? `; ${problem.hint}` : ''}`;
}
