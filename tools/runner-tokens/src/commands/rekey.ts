import { command } from '@runner/common/cli/command';
import type { Rekeyed } from '../master-key.ts';

export const rekey = command({
  name: 'rekey',
  about: 'Make a new master key and re-encrypt every token with it',
  details:
    'The new key is written first, and the old one is removed last, once every token opens with the\n' +
    'new one. If rekey is killed, every token still opens, and the next run continues. If a token\n' +
    'cannot be opened, the old key stays, the app is named on stderr, and the status is 1.',
  options: {
    'dry-run': {
      kind: 'flag',
      about: 'Only report what would be done, and whether every token opens',
    },
  },
  async run(context) {
    const { rekeyAll, tryRekey } = await import('../master-key.ts');
    const value = context.options['dry-run'] ? tryRekey(context) : rekeyAll(context);
    return { value, status: value.failed.length > 0 ? 1 : 0 };
  },
  human({ key, sealed, failed, dry_run: dry, old_keys_dropped: dropped }: Rekeyed) {
    if (dry) return `${sealed} token(s) would be re-encrypted\n`;
    const old =
      dropped > 0
        ? `, ${dropped} old key(s) removed`
        : failed.length > 0
          ? ', the old key stays'
          : '';
    return `Re-encrypted ${sealed} token(s) with the key ${key}${old}\n`;
  },
});
