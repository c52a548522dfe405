/** The permissions that a token lacks for the configuration, if its host reports them. */
import type { AppState } from '@runner/common/apps/state';
import type { HostType } from '@runner/common/config/code-hosts';
import type { Config } from '@runner/common/config/file';
import { commitStatusOf } from '@runner/common/config/settings';
import type { Secret } from '@runner/common/secrets/secret';
import { appKeyOf } from '@runner/common/tokens/app-key';

/** A right: any one of these scopes gives it. */
type Right = readonly [string, ...string[]];

const RIGHTS: Readonly<Record<'app' | HostType, Record<'checks' | 'status', readonly Right[]>>> = {
  app: {
    checks: [
      ['checks:read', 'checks:write'],
      ['statuses:read', 'statuses:write'],
    ],
    status: [['statuses:write'], ['deployments:write']],
  },
  github: {
    checks: [['repo', 'public_repo']],
    status: [
      ['repo', 'repo:status', 'public_repo'],
      ['repo', 'repo_deployment', 'public_repo'],
    ],
  },
  gitlab: { checks: [['read_api', 'api']], status: [['api']] },
  gitea: { checks: [], status: [] },
  bitbucket: { checks: [], status: [] },
  git: { checks: [], status: [] },
};

/** The scopes that are missing; empty where a token announces none. */
export function missingRights(
  { require_checks: checks }: AppState,
  config: Config,
  { type, token, scopes }: Readonly<{ type: HostType; token: Secret; scopes: readonly string[] }>,
): string[] {
  if (scopes.length === 0) return [];
  const rights = RIGHTS[appKeyOf(token) ? 'app' : type];
  const wanted = [
    ...(checks ? rights.checks : []),
    ...(commitStatusOf(config) ? rights.status : []),
  ];
  const missing = wanted.filter((right) => !right.some((scope) => scopes.includes(scope)));
  return [...new Set(missing.map(([scope]) => scope))];
}
