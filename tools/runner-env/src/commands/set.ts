import { command } from '@runner/common/cli/command';
import type { SetSecrets } from '../change.ts';

export const set = command({
  name: 'set',
  about: 'Set a secret of an app',
  details:
    'Asks for the value with a hidden prompt, or reads it from --file. It is stored encrypted, and given\n' +
    'to the app, its hooks and its health check as an environment variable when the app is next\n' +
    'started. A build gets it only if build.env of the .deploy.yml names it. A value of 12 characters\n' +
    'with a letter and a digit, or of 24 of any kind, is redacted in every log and message.',
  positionals: {
    app: { required: true, about: 'Name of the app' },
    name: { required: true, about: 'Name of the variable' },
  },
  options: {
    file: {
      kind: 'value',
      placeholder: 'FILE',
      about: 'Read the value from a file; - reads standard input',
    },
    instance: {
      kind: 'value',
      placeholder: 'NAME',
      about: 'Only for this instance, in place of the value of all',
    },
    restart: { kind: 'flag', about: 'Restart what gets it, so that it is applied at once' },
    plain: { kind: 'flag', about: 'Not a secret: do not redact it in logs and messages' },
  },
  examples: [
    'runner env set shop DATABASE_URL',
    'pass show shop/db | runner env set shop DB --file -',
  ],
  async run(context) {
    const { requireApp } = await import('@runner/common/apps/store');
    const { readValue, scopeOf, variableName } = await import('../value.ts');
    const { store } = await import('../change.ts');
    const { io, paths, args, options } = context;
    const { app } = requireApp(paths, args.app);
    const name = variableName(args.name);
    const instance = scopeOf(options.instance);
    const value = readValue(io, options.file, name);
    const stored = store(context, app, [{ name, instance, value, plain: options.plain }]);
    if (!options.restart) return { value: stored };
    const { restartFor } = await import('../restart.ts');
    return restartFor(context, app, options.instance, stored);
  },
  human: ({ text }: SetSecrets) => `${text}\n`,
});
