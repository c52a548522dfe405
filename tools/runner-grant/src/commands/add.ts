import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { isUser, personOf } from '@runner/common/files/person';
import { readGiven } from '@runner/common/files/read';
import { invalidValue } from '@runner/common/foundation/failure';
import { appName } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import {
  changeGrants,
  GRANT_LEVELS,
  type Grant,
  grantKey,
  isGrantName,
  listGrants,
} from '@runner/deploy/approval/grants';
import { requireRoot } from '../root.ts';

const KEY_MAX = 16_384;

/** With a mistyped user `not_author` would have no effect. Throws `usage`. */
function requireUser(paths: Paths, apps: readonly string[], user: string): void {
  if (isUser(user)) return;
  const config = readConfig(paths);
  const approvers = apps.flatMap((app) => approvalRuleOf(config, app).by);
  if (approvers.some((each) => each.user === user)) return;
  const why = 'it must be a user of this server, or one that require_approval of config.yml lists';
  throw invalidValue(user.slice(0, 80), '--user <USER>', why);
}

export const add = command({
  name: 'add',
  about: 'Let an agent look, make plans, or restart',
  details:
    'look: read; propose: make plans, each of which needs an approval; operate: also restart and start\n' +
    'without one, unless config.yml asks for it. With a key, its line is written to /etc/runner/agent_keys.',
  safeInForeignRoot: true,
  positionals: { name: { required: true, about: 'Name of the grant' } },
  options: {
    level: { placeholder: 'LEVEL', choices: GRANT_LEVELS, about: 'What it may do', required: true },
    app: { placeholder: 'APPS', about: 'Names of apps, separated by commas', required: true },
    user: {
      placeholder: 'USER',
      about: 'Whose agent it is; with not_author they cannot approve its plans',
    },
    key: { placeholder: 'FILE', about: 'Public ssh key that may use it; - reads stdin' },
  },
  examples: ['sudo runner grant add helper --level propose --app shop --key helper.pub'],
  async run({ io, paths, args: { name }, options }) {
    requireRoot(io);
    if (!isGrantName(name))
      throw invalidValue(name.slice(0, 80), '<NAME>', 'it must be a-z, 0-9 and -, at most 32');
    const { level, app, key, user = null } = options;
    const grant: Grant = {
      name,
      level: level as Grant['level'],
      apps: [...new Set(app.split(','))].map((each) => appName(each)),
      key: key === undefined ? null : grantKey(readGiven(io, key, KEY_MAX, 'the key')),
      user,
      since: io.now().toISOString(),
      by: personOf(io),
    };
    for (const each of grant.apps) requireApp(paths, each);
    if (user !== null) requireUser(paths, grant.apps, user);
    const known = listGrants(io.env).find((each) => each.name === name);
    if (known?.key === grant.key) grant.since = known.since;
    changeGrants(io, name, grant);
    return { value: grant };
  },
  human: ({ name, level, apps }: Grant, style) =>
    `${style.green('Granted')} ${style.bold(name)}: ${level} on ${harmlessLine(apps.join(', '))}\n`,
});
