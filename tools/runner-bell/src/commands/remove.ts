import { command } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { appName } from '@runner/common/foundation/names';
import { harmlessLine } from '@runner/common/text/harmless';
import { DIR, folderOf, removeBell } from '../folder.ts';

export const remove = command({
  name: 'remove',
  about: 'Delete the secret of an app: calls for it are refused',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: { dir: DIR },
  async run({ io, args, options }) {
    const app = appName(args.app);
    if (!removeBell(folderOf(options.dir, io.env), app))
      throw new Failure('not_configured', `'${app}' has no bell`);
    return { value: { app, removed: true } };
  },
  human: ({ app }: { app: string }) =>
    `${harmlessLine(app)} no longer has a bell. Remove the webhook from the code host too.\n`,
});
