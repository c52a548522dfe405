import { unsetSecrets } from '@runner/common/app-secrets/change';
import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { nextStart } from '../change.ts';
import { requireSecretsOf, scopeOf } from '../value.ts';

/** What `unset` prints. */
interface Unset {
  app: string;
  result: 'unset';
  names: string[];
}

export const unset = command({
  name: 'unset',
  about: 'Remove secrets of an app',
  details:
    'Running instances keep them until the next start. If one of them is not set, nothing is removed.',
  positionals: {
    app: { required: true, about: 'Name of the app' },
    names: { required: true, many: true, about: 'Names of the variables' },
  },
  options: {
    instance: {
      placeholder: 'NAME',
      about: 'Only the value of this instance',
    },
    preview: { about: 'Only the value for previews', conflicts: ['instance'] },
  },
  examples: ['runner env unset shop OLD_API_KEY'],
  async run({ io, paths, args, options }) {
    const { app } = requireSecretsOf(paths, args.app);
    unsetSecrets({ io, paths }, app, args.names, scopeOf(options.instance, options.preview));
    const value: Unset = { app, result: 'unset', names: [...args.names] };
    return { value };
  },
  human: ({ app, names }: Unset, _style, context) =>
    `Removed ${harmlessLine(names.join(', '))} of ${harmlessLine(app)}; ${nextStart(context, app)}\n`,
});
