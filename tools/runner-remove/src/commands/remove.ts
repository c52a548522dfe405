import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Removed } from '../removal.ts';

export const remove = command({
  name: '',
  about: 'Forget an app and stop what runs of it',
  details:
    'Stops its instances, removes its registration with the token, its releases and its mirror. The\n' +
    'audit log stays, and so do the shared files of its instances, unless --purge is given. An app of\n' +
    'which an instance cannot be stopped stays registered, unless --force is given.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    yes: { kind: 'flag', short: 'y', about: 'Do not ask' },
    purge: {
      kind: 'flag',
      about: "Remove the instances' shared files and the deploy logs as well",
    },
    force: { kind: 'flag', about: 'Remove the app also when an instance cannot be stopped' },
  },
  exits: [[75, 'A deploy of the app is running']],
  async run(context) {
    const { removeApp } = await import('../removal.ts');
    return { value: await removeApp(context) };
  },
  human: (removed: Removed, style) =>
    `Removed ${style.bold(harmlessLine(removed.app))}\n${removed.kept.map((path) => `Kept ${harmlessLine(path)}\n`).join('')}`,
});
