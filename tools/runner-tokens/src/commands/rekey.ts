import { command } from '@runner/common/cli/command';
import type { Rekeyed } from '../rekeying.ts';

export const rekey = command({
  name: 'rekey',
  about: 'Make a new master key and seal every token anew',
  details:
    'The new key is written first and the old one dropped last, when every token opens with the new\n' +
    'one: killed at any moment, every token still opens, and the next run goes on. When a token cannot\n' +
    'be opened the old key stays, the app is named on stderr, and the status is 1.',
  options: {
    'dry-run': { kind: 'flag', about: 'Say what would be done, and whether every token opens' },
  },
  async run(context) {
    const { rekeyAll } = await import('../rekeying.ts');
    const value = rekeyAll(context, context.options['dry-run']);
    return { value, status: value.failed.length > 0 ? 1 : 0 };
  },
  human({ key, sealed, failed, dry_run: dry, old_keys_dropped: dropped }: Rekeyed) {
    if (dry) return `${sealed} token(s) would be sealed anew\n`;
    const old =
      dropped > 0
        ? `, ${dropped} old key(s) dropped`
        : failed.length > 0
          ? ', the old key stays'
          : '';
    return `Sealed ${sealed} token(s) with the key ${key}${old}\n`;
  },
});
