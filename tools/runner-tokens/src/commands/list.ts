import { command } from '@runner/common/cli/command';
import type { TokenGroup } from '../groups.ts';

const SEPARATOR = '-'.repeat(60);

export const list = command({
  name: 'list',
  about: 'List the stored tokens by fingerprint, and the apps that share each',
  details:
    'Reads and decrypts locally; no network. Apps without a token are named on stderr. An app whose\n' +
    'token cannot be opened is named there too, and the status is then 1. Without the master key no\n' +
    'token opens: that is told once, in place of the list.',
  plain: true,
  async run(context) {
    const { groupTokens } = await import('../groups.ts');
    const { groups, without, failed, keysRefused } = groupTokens(context.paths, context.io.env);
    if (without.length > 0) context.note(`without a token: ${without.join(', ')}`);
    for (const { app, failure } of failed)
      context.note(`${app}: ${failure.message} (${failure.code})`);
    if (keysRefused) throw keysRefused;
    return { value: { count: groups.length, tokens: groups }, status: failed.length > 0 ? 1 : 0 };
  },
  human: ({ count, tokens }: { count: number; tokens: TokenGroup[] }) =>
    [
      `Tokens (${count}):`,
      SEPARATOR,
      ...tokens.map(
        (group) => `${group.fingerprint} | ${group.apps_count} app(s) | ${group.apps.join(', ')}`,
      ),
      '',
    ].join('\n'),
});
