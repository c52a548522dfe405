import { followedWords, repoLabel } from '@runner/common/apps/following';
import { APP_LOGIN_OPTIONS } from '@runner/common/cli/app-login';
import { command } from '@runner/common/cli/command';
import { FOLLOW_OPTIONS } from '@runner/common/cli/follow';
import { refuseTwoReaders } from '@runner/common/files/read';
import { harmlessLine } from '@runner/common/text/harmless';
import { change, type Edited } from '../change.ts';

export const edit = command({
  about: "Change an app's token, branch or repository",
  details: 'A running deploy is not affected; the next one uses the change.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    token: {
      placeholder: 'TOKEN',
      secret: true,
      conflicts: ['token-from', 'token-file', 'public'],
      about: 'New token; - reads it from standard input, hidden on a terminal',
    },
    'token-file': {
      placeholder: 'FILE',
      conflicts: ['token-from', 'public'],
      about: 'Read the new token from a file; - reads standard input',
    },
    'token-from': {
      placeholder: 'APP',
      conflicts: ['public'],
      about: 'Reuse the token of a registered app',
    },
    public: { about: 'Remove the token: the repository is public' },
    ...APP_LOGIN_OPTIONS,
    ckey: {
      conflicts: ['public'],
      about: "Also encrypt the new token with the app's own key (ckey), wrapped by the master key",
    },
    repo: {
      placeholder: 'OWNER/NAME',
      about: 'New repository: owner/name, HOST:group/sub/name, or an address',
    },
    ...FOLLOW_OPTIONS,
    'require-checks': {
      placeholder: 'CHECKS',
      about:
        'fetch deploys only commits whose checks passed: all, names such as build,test, or none',
    },
    'require-signed': {
      placeholder: 'head|strict|off',
      about:
        'Deploy only commits signed by a key of /etc/runner/commit_signers: the one that is deployed, or all',
    },
    'deploy-file': {
      placeholder: 'FILE',
      about:
        'The .deploy.yml for commits that have none; - reads standard input, none forgets the file',
    },
    'deploy-file-wins': { about: 'It also counts for commits that have their own' },
  },
  examples: [
    'runner edit shop --token-file ~/new-token',
    'runner edit shop --branch release',
    "runner edit shop --paths 'apps/shop/**'",
    'runner edit shop --require-signed strict',
    'runner edit shop --deploy-file shop.deploy.yml',
  ],
  async run(context) {
    const { token, ...rest } = context.options;
    refuseTwoReaders({
      '--token': token,
      '--token-file': rest['token-file'],
      '--app-key-file': rest['app-key-file'],
      '--deploy-file': rest['deploy-file'],
    });
    return { value: await change(context) };
  },
  human: (edited: Edited, style) =>
    `Changed ${style.bold(harmlessLine(edited.app))} (${harmlessLine(repoLabel(edited))}, ${harmlessLine(edited.tags ? followedWords(edited) : `branch ${edited.branch}`)}${edited.fingerprint ? `, token ${edited.fingerprint}` : ''}${edited.deploy_file ? FILE_WORDS[edited.deploy_file] : ''}${edited.require_signed ? `, signatures required: ${edited.require_signed}` : ''})\n`,
});

const FILE_WORDS = {
  fallback: ", the operator's .deploy.yml for commits without one",
  wins: ", the operator's .deploy.yml for every commit",
} as const;
