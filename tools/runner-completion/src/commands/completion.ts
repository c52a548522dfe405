import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command } from '@runner/common/cli/command';
import { systemFailure } from '@runner/common/foundation/failure';

export const completion = command({
  about: 'Print the completion for bash, zsh or fish',
  details:
    'To enable it in every shell, put one of the examples into ~/.bashrc, ~/.zshrc (after compinit) or\n' +
    '~/.config/fish/config.fish. The packages install it for all users. A program runner-foo on PATH\n' +
    'completes as runner foo, and its arguments with its own completion.',
  positionals: {
    shell: { required: true, about: 'Which shell', choices: ['bash', 'zsh', 'fish'] },
  },
  examples: [
    'eval "$(runner completion bash)"',
    'source <(runner completion zsh)',
    'runner completion fish | source',
  ],
  safeInForeignRoot: true,
  async run({ io, args }) {
    const file = join(dirname(dirname(io.program)), 'lib', 'completion', `runner.${args.shell}`);
    try {
      return { value: { shell: args.shell, script: readFileSync(file, 'utf8') } };
    } catch (error) {
      throw systemFailure(error, `read ${file}`, 'file_unreadable');
    }
  },
  human: ({ script }: { readonly script: string }) => script,
});
