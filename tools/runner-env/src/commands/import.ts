import { command } from '@runner/common/cli/command';
import { noteUnread, type SetSecrets, store } from '../change.ts';
import { parseDotenv } from '../dotenv.ts';
import { checkedValue, readFileOf, requireSecretsOf, scopeOf, variableName } from '../value.ts';

export const importSecrets = command({
  name: 'import',
  about: 'Set the secrets of a .env file',
  details:
    'Reads NAME=value lines: bare, in single quotes (literal) or in double quotes (with \\n, \\", \\\\ and\n' +
    '\\$). Quoted values may contain line breaks. Nothing is expanded. If a line is invalid, nothing is\n' +
    'set. Other secrets of the app are kept.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    file: {
      placeholder: 'FILE',
      default: '-',
      about: 'The file [default: standard input]',
    },
    instance: { placeholder: 'NAME', about: 'Only for this instance' },
    plain: { about: 'Not secrets: do not redact them in logs and messages' },
  },
  examples: ['runner env import shop < .env'],
  async run(context) {
    const { io, paths, args, options } = context;
    const { app } = requireSecretsOf(paths, args.app);
    const instance = scopeOf(options.instance);
    const entries = parseDotenv(readFileOf(io, options.file)).map(([name, text]) => ({
      name: variableName(name),
      instance,
      value: checkedValue(text, name),
      plain: options.plain,
    }));
    const value = store(context, app, entries);
    await noteUnread(context, app);
    return { value };
  },
  human: ({ text }: SetSecrets) => `${text}\n`,
});
