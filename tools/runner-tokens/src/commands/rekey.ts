import { command } from '@runner/common/cli/command';
import { type Rekeyed, rekeyAll, tryRekey } from '../master-key.ts';

export const rekey = command({
  name: 'rekey',
  about: 'Create a new master key and re-encrypt every token and secret',
  details:
    'The old key is removed last, once everything can be decrypted with the new one. If rekey is killed,\n' +
    'nothing is lost, and the next run continues. If a token or a secret cannot be decrypted, the old key\n' +
    'stays, the app is reported on stderr, and the exit status is 1.',
  options: {
    'dry-run': { about: 'Only show what would be done, and whether every token can be decrypted' },
  },
  async run(context) {
    const value = context.options['dry-run'] ? tryRekey(context) : rekeyAll(context);
    return { value, status: value.failed.length > 0 ? 1 : 0 };
  },
  human({ key, sealed, secrets, failed, dry_run: dry, old_keys_dropped: dropped }: Rekeyed) {
    const what = `${sealed} token(s)${secrets > 0 ? ` and ${secrets} secret(s)` : ''}`;
    if (dry) return `${what} would be re-encrypted\n`;
    const old =
      dropped > 0
        ? `, ${dropped} old key(s) removed`
        : failed.length > 0
          ? ', the old key stays'
          : '';
    return `Re-encrypted ${what} with the key ${key}${old}\n`;
  },
});
