import { missingRoot } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { groupTokens, type TokenGroup } from '../groups.ts';

const SEPARATOR = '-'.repeat(60);

export const list = command({
  name: 'list',
  about: 'List the stored tokens by fingerprint, and the apps that share each',
  details:
    'Needs no network. Apps without a token, or whose token cannot be decrypted, are reported on stderr;\n' +
    'for the latter the exit status is 1. Without the master key it prints an error and no list.',
  options: {
    wide: { short: 'w', about: 'Also show when each token expires, as last tested' },
  },
  plain: true,
  safeInForeignRoot: true,
  async run({ paths, io, note }) {
    const missing = missingRoot(paths);
    if (missing) note(missing);
    const { groups, without, failed, keysRefused } = groupTokens(paths, io.env);
    if (without.length > 0) note(`without a token: ${without.join(', ')}`);
    for (const { app, failure } of failed) note(`${app}: ${failure.message} (${failure.code})`);
    if (keysRefused) throw keysRefused;
    return { value: { count: groups.length, tokens: groups }, status: failed.length > 0 ? 1 : 0 };
  },
  human: ({ count, tokens }: { count: number; tokens: TokenGroup[] }, _style, { options }) =>
    [
      `Tokens (${count}):`,
      SEPARATOR,
      ...tokens.map(
        (group) =>
          `${group.fingerprint} | ${group.apps_count} app(s) | ${group.apps.join(', ')}${options.wide ? endWords(group) : ''}`,
      ),
      '',
    ].join('\n'),
});

function endWords({ expires_at: end }: TokenGroup): string {
  return ` | ${end === undefined ? 'no known expiry' : `expires ${end.slice(0, 10)}`}`;
}
