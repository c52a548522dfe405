import { command } from '@runner/common/cli/command';
import { usage } from '@runner/common/foundation/failure';
import { noteUnread, type SetSecrets, store } from '../change.ts';
import { requireRestart, restartFor } from '../restart.ts';
import { readValue, requireSecretsOf, scopeOf, variableName } from '../value.ts';

export const set = command({
  name: 'set',
  about: 'Set a secret of an app',
  details:
    'Reads the value from a hidden prompt, or from --file. It is stored encrypted, and passed to the\n' +
    'app, its hooks and its health check as an environment variable from the next start on. A build gets\n' +
    'it only if build.env in .deploy.yml lists it. Values of at least 12 characters with a letter and a\n' +
    'digit, or at least 24 of any kind, are redacted in every log and message. An empty value needs --plain.',
  positionals: {
    app: { required: true, about: 'Name of the app' },
    name: { required: true, about: 'Name of the variable' },
  },
  surplus:
    'no value is taken from the command line, where other users can see it: it is asked for, or read with --file',
  options: {
    file: {
      placeholder: 'FILE',
      about: 'Read the value from a file; - reads standard input',
    },
    instance: {
      placeholder: 'NAME',
      about: 'Only for this instance',
    },
    preview: {
      about: "Only for the app's previews, which get no other; {n} is the number",
      conflicts: ['instance', 'restart'],
    },
    restart: { about: 'Restart the app now' },
    plain: { about: 'Not a secret: do not redact it in logs and messages' },
  },
  examples: [
    'runner env set shop DATABASE_URL',
    'runner env set shop DATABASE_URL --preview --file preview-db',
    'pass show shop/db | runner env set shop DB --file -',
  ],
  async run(context) {
    const { io, paths, args, options } = context;
    const { app } = requireSecretsOf(paths, args.app);
    if (options.restart) requireRestart({ io, paths }, app);
    const name = variableName(args.name);
    const instance = scopeOf(options.instance, options.preview);
    const value = readValue(io, options.file, name);
    // What is left of it if the command before the pipe fails.
    if (value.reveal() === '' && !options.plain)
      throw usage(`the value of ${name} is empty: add --plain if that is meant`);
    const stored = store(context, app, [{ name, instance, value, plain: options.plain }]);
    if (options.restart) return restartFor(context, app, options.instance, stored);
    await noteUnread(context, app);
    return { value: stored };
  },
  human: ({ text }: SetSecrets) => `${text}\n`,
});
