/** Whether the code hosts can be reached, and this clock agrees with their Date header. */

import { listApps } from '@runner/common/apps/store';
import { type CodeHost, codeHostOf, DEFAULT_HOST } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { type HttpAnswer, send } from '@runner/common/http/request';
import { word } from '@runner/common/text/shell';
import { type CheckResult, type Findings, ok, problem, warning } from '../foundation/finding.ts';

const TIMEOUT = 10_000;
const BODY_MAX = 1_048_576;
/** Above this difference in seconds, logs of two machines cannot be compared. */
const SKEW = 30;
/** Above this difference in seconds, certificates and expiry times are unreliable. */
const SKEW_BAD = 300;

/** Checks every host that an app uses, or the default host if there are no apps. */
export async function clock({ io, paths }: Server): Promise<Findings> {
  const used = new Set(listApps(paths).apps.map(({ host }) => host));
  // A host that no app uses may be out of reach on purpose.
  const unreachable = used.size === 0 ? warning : problem;
  if (used.size === 0) used.add(undefined);
  const found: CheckResult[] = [];
  for (const name of used) {
    try {
      const config = readConfig(paths);
      found.push(await clockAt(io, codeHostOf(config, io.env, name), unreachable));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // The `config` check reports why.
      const what = name === undefined ? '' : ` ${name}`;
      found.push(
        warning(
          `the code host${what} cannot be checked: config.yml is not valid`,
          `\${EDITOR:-vi} ${word(paths.config)}`,
        ),
      );
    }
  }
  return found;
}

async function clockAt(
  io: Server['io'],
  { name, apiUrl, gitUrl }: CodeHost,
  unreachable: typeof problem | typeof warning,
): Promise<CheckResult> {
  const host = name === DEFAULT_HOST ? 'the code host' : `the code host ${name}`;
  // A plain git server has no API, but also sends a Date header.
  const address = apiUrl ?? gitUrl;
  const before = io.now().getTime();
  let answer: HttpAnswer;
  try {
    answer = await send({
      method: 'GET',
      url: `${address}/`,
      timeout: TIMEOUT,
      limit: BODY_MAX,
      env: io.env,
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const what = `${host} ${address} cannot be reached: ${error.message}`;
    return unreachable(what, `curl -sSI ${word(address)}`);
  }
  const theirs = Date.parse(answer.headers.date ?? '');
  if (Number.isNaN(theirs)) return ok(`${host} answers, but sends no Date header`);
  // The header has whole seconds and was written between request and answer.
  const middle = (before + io.now().getTime()) / 2;
  const skew = Math.abs(Math.round((middle - theirs - 500) / 1000));
  const way = middle > theirs ? 'ahead of' : 'behind';
  const what = `this clock is ${skew} s ${way} ${host}'s`;
  if (skew > SKEW_BAD) return problem(what, 'timedatectl set-ntp true');
  if (skew > SKEW) return warning(what, 'timedatectl set-ntp true');
  return ok(`${host} answers, and the clocks agree`);
}
