import { followedWords, repoLabel } from '@runner/common/apps/following';
import { APP_LOGIN_OPTIONS } from '@runner/common/cli/app-login';
import { command } from '@runner/common/cli/command';
import { FOLLOW_OPTIONS } from '@runner/common/cli/follow';
import { harmlessLine } from '@runner/common/text/harmless';
import { type AddedApp, register } from '../registration.ts';

export const add = command({
  about: 'Register an app to deploy from git',
  details:
    'Without --token, --token-file, --token-from or --public the token is read from RUNNER_TOKEN or,\n' +
    'on a terminal, from a hidden prompt. It is stored encrypted. An unknown code host is added to config.yml\n' +
    'if you say on a terminal what runs there.',
  positionals: {
    repo: { about: 'owner/name, HOST:group/sub/name, or the address of the repository' },
  },
  options: {
    repo: { placeholder: 'OWNER/NAME', about: 'The same as an option' },
    ...FOLLOW_OPTIONS,
    branch: {
      ...FOLLOW_OPTIONS.branch,
      about: "Branch to deploy [default: the repository's own, which the code host is asked for]",
    },
    token: {
      placeholder: 'TOKEN',
      secret: true,
      conflicts: ['token-from', 'token-file', 'public'],
      about: 'Code-host token; - reads it from standard input (the process list shows options)',
    },
    'token-file': {
      placeholder: 'FILE',
      conflicts: ['token-from', 'public'],
      about: 'Read the token from a file; - reads standard input',
    },
    'token-from': {
      placeholder: 'APP',
      conflicts: ['public'],
      about: 'Reuse the token of a registered app',
    },
    public: { about: 'The repository is public: use no token' },
    ...APP_LOGIN_OPTIONS,
    name: {
      placeholder: 'NAME',
      about: "Name of the app [default: the repository's name]",
    },
    ckey: {
      conflicts: ['public'],
      about: "Also encrypt the token with the app's own key (ckey), wrapped by the master key",
    },
  },
  surplus:
    'add takes one argument, the repository: give the branch with --branch <BRANCH> and the app with --name <NAME>',
  examples: [
    'runner add acme/shop --branch main --token-file ~/token',
    'runner add https://github.com/acme/site --public',
    'runner add acme/blog --branch next --token-from shop',
    "runner add --repo acme/docs --tags 'v*' --semver '^1' --token-from blog",
    'runner add acme/api --app-id 12345 --app-key-file app.pem',
    'runner add gitlab:acme/web/site --branch main --token-file ~/gitlab-token',
  ],
  async run(context) {
    return { value: await register(context) };
  },
  human(added: AddedApp, style, { io }) {
    const followed = added.tags ? followedWords(added) : `branch ${added.branch}`;
    const [app, repo, what] = [added.app, repoLabel(added), followed].map(harmlessLine);
    const token = added.fingerprint ? `token ${added.fingerprint}` : 'no token';
    const next = io.stdout.isTTY ? `Next: runner deploy ${app} --check\n` : '';
    return `Added ${style.bold(app as string)} (${repo}, ${what}, ${token})\n${next}`;
  },
});
