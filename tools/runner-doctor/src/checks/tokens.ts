/** Whether the code host accepts every token, and until when, according to `runner tokens test --all`. */
import type { Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { type Findings, orOk, problem, warning } from '../foundation/finding.ts';
import { runOwnTool } from '../foundation/program.ts';

/** A token that expires sooner is reported, in days. */
const SOON = 14;
const DAY = 86_400_000;

interface TokenCheck {
  readonly fingerprint: string;
  readonly apps: readonly string[];
  readonly valid: boolean | null;
  readonly expires_at: string | null;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly message: string | null;
  readonly git?: { readonly ok: boolean; readonly message: string | null };
}

const AGAIN = 'runner tokens test --all';

export async function tokens(context: Server): Promise<Findings> {
  const { io, paths } = context;
  const asked = await runOwnTool<TokenCheck>(context, 'runner-tokens', ['test', '--all'], {
    wanted: 'tokens',
    purpose: 'the tokens could not be tested',
    again: AGAIN,
  });
  if ('found' in asked) return [asked.found];
  const verdicts = asked.answer;
  const now = io.now().getTime();
  const count = verdicts.length === 1 ? 'the token is' : `all ${verdicts.length} tokens are`;
  const well = verdicts.length === 0 ? 'no token is stored' : `${count} accepted by the code host`;
  return orOk(
    verdicts.flatMap((each) => [refused(each, paths), ending(each, now)]),
    well,
  );
}

const nameOf = ({ fingerprint, apps }: TokenCheck) =>
  `the token ${fingerprint} of ${apps.join(', ')}`;
/** All apps that share the old token need the new one. */
const renew = ({ apps: [first, ...others] }: TokenCheck) =>
  [
    `runner edit ${first} --token -`,
    ...others.map((app) => `runner edit ${app} --token-from ${first}`),
  ].join(' && ');

function refused(verdict: TokenCheck, paths: Paths): Findings {
  if (verdict.valid === true) return unreadable(verdict);
  if (verdict.valid === false) return problem(`${verdict.message}`, renew(verdict));
  const what = `${nameOf(verdict)} could not be tested: ${verdict.message}`;
  // Deploys work with other code hosts too, but their tokens cannot be tested.
  if (verdict.error === 'code_host_error' && verdict.http_status === 404) {
    const why = 'it has no GitHub API, or code_host_api_url is wrong';
    return warning(`${what}: ${why}`, `\${EDITOR:-vi} ${word(paths.config)}`);
  }
  return [verdict.error === 'rate_limited' ? warning(what, AGAIN) : problem(what, AGAIN)];
}

/** The API accepts the token, but git cannot read with it. */
function unreadable(verdict: TokenCheck): Findings {
  if (verdict.git?.ok !== false) return [];
  return problem(`${nameOf(verdict)}: ${verdict.git.message}`, AGAIN);
}

function ending(verdict: TokenCheck, now: number): Findings {
  const left = verdict.expires_at === null ? SOON : (Date.parse(verdict.expires_at) - now) / DAY;
  if (left >= SOON) return [];
  const when = left < 1 ? 'within a day' : `in ${Math.floor(left)} day${left < 2 ? '' : 's'}`;
  return warning(`${nameOf(verdict)} expires ${when}`, renew(verdict));
}
