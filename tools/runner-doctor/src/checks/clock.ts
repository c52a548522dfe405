/** Whether the code host can be reached, and this clock agrees with its Date header. */
import { readConfig } from '@runner/common/config/file';
import { codeHostOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import { type HttpAnswer, send } from '@runner/common/http/request';
import { word } from '@runner/common/text/shell';
import { type Found, ok, type Patient, problem, warning } from '../foundation/finding.ts';

const TIMEOUT = 10_000;
const BODY_MAX = 1_048_576;
/** Seconds of difference that make logs of two machines incomparable. */
const SKEW = 30;
/** Seconds of difference that make certificates and expiry times unreliable. */
const SKEW_BAD = 300;

export async function clock({ io, paths }: Patient): Promise<readonly Found[]> {
  let apiUrl: string;
  try {
    ({ apiUrl } = codeHostOf(readConfig(paths), io.env));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The `config` check says why.
    return [
      warning(
        'the code host cannot be checked: config.yml is not valid',
        `\${EDITOR:-vi} ${word(paths.config)}`,
      ),
    ];
  }
  const before = io.now().getTime();
  let answer: HttpAnswer;
  try {
    answer = await send({
      method: 'GET',
      url: `${apiUrl}/`,
      timeout: TIMEOUT,
      limit: BODY_MAX,
      env: io.env,
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const what = `the code host ${apiUrl} cannot be reached: ${error.message}`;
    return [problem(what, `curl -sSI ${word(apiUrl)}`)];
  }
  const theirs = Date.parse(answer.headers.date ?? '');
  if (Number.isNaN(theirs)) return [ok('the code host answers, but without its time')];
  // The header has whole seconds and was written between request and answer.
  const middle = (before + io.now().getTime()) / 2;
  const skew = Math.abs(Math.round((middle - theirs - 500) / 1000));
  const way = middle > theirs ? 'ahead of' : 'behind';
  const what = `this clock is ${skew} s ${way} the code host's`;
  if (skew > SKEW_BAD) return [problem(what, 'timedatectl set-ntp true')];
  if (skew > SKEW) return [warning(what, 'timedatectl set-ntp true')];
  return [ok('the code host answers, and this clock agrees with its clock')];
}
