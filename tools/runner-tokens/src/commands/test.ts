import { command } from '@runner/common/command';
import { harmlessLine } from '@runner/common/harmless';
import { fields } from '@runner/common/output';
import type { TokenTest } from '../token-test.ts';

/** Announced this many days before a token ends. */
const WARNING_DAYS = 14;

export const test = command({
  name: 'test',
  about: "Ask the code host whether an app's token is valid",
  details: 'Status 1 when the app has no token, when it is refused, or when the host cannot be asked.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  async run(context) {
    const { testToken } = await import('../token-test.ts');
    const value = await testToken(context.paths, context.io.env, context.args.app);
    if (value.expires_at) {
      const days = Math.floor((Date.parse(value.expires_at) - context.io.now().getTime()) / 86_400_000);
      if (days < WARNING_DAYS) context.note(`warning: the token ends in ${Math.max(0, days)} day(s)`);
    }
    return { value };
  },
  human: (found: TokenTest, style) =>
    `${style.green(`Token VALID for ${found.app}:`)}\n${fields([
      ['fingerprint:', found.fingerprint],
      ['username:', harmlessLine(found.username)],
      ['scopes:', found.scopes.join(', ') || 'none announced by this kind of token'],
      ...(found.expires_at ? [['expires:', found.expires_at] as const] : []),
    ])}`,
});
