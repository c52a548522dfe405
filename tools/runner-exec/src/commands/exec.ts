import { command } from '@runner/common/cli/command';
import { activeTargets } from '@runner/deploy/lifecycle/active';
import { execIn } from '@runner/deploy/lifecycle/exec';

export const exec = command({
  about: 'Run a command in the active release of an app',
  details:
    "Runs in the release's folder, with the environment, secrets and sandbox of the instance. Terminal,\n" +
    "signals and standard input pass through; the exit status is the command's. Output is not redacted.\n" +
    'With start.type process, a stop, restart or deploy of the instance ends the command, too.',
  positionals: {
    app: { required: true, about: 'Name of the app' },
    command: { required: true, many: true, about: 'The command and its arguments, after --' },
  },
  options: {
    instance: {
      placeholder: 'NAME',
      about: 'In this instance [default: the first active one]',
    },
  },
  otherwise: 'put -- before a command with options',
  exits: [
    [126, 'The command is not an executable file'],
    [127, 'There is no such command'],
  ],
  examples: ['runner exec shop -- node --version', 'runner exec shop -- sh'],
  async run(context) {
    const { io, args, options } = context;
    const [target] = activeTargets(context, args.app, options.instance);
    return { status: await execIn(io, target, args.command) };
  },
});
