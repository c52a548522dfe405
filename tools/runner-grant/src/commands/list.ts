import { command } from '@runner/common/cli/command';
import { table } from '@runner/common/cli/output';
import { type Grant, listGrants } from '@runner/deploy/approval/grants';

export const list = command({
  name: 'list',
  about: 'Show the grants',
  safeInForeignRoot: true,
  run: async ({ io }) => ({ value: { grants: listGrants(io.env) } }),
  human({ grants }: { grants: Grant[] }, style) {
    if (grants.length === 0) return 'No grants.\n';
    const rows = grants.map(({ name, level, apps, user, key, since, by }) => {
      const all = [name, level, apps.join(','), user ?? '-', key ? 'yes' : 'no'];
      return [...all, since.slice(0, 10), by];
    });
    return table(['NAME', 'LEVEL', 'APPS', 'USER', 'KEY', 'SINCE', 'BY'], rows, style);
  },
});
