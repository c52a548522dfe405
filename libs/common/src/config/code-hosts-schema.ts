/** The schema of `code_hosts` in config.yml. */
import { choice, keys, list, named, text } from '../yaml/keys.ts';

const HOST_TYPES = ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket', 'git'] as const;
/** The section `code_hosts`. */
export const CODE_HOSTS = named(
  keys(
    {
      type: choice(HOST_TYPES, 'Its software'),
      api_url: text('Its API [default: derived from git_url; none for the type git]'),
      git_url: text('Its git over https [default: the host of api_url, or the public one]'),
      token_from: text('No longer used: see submodules'),
    },
    undefined,
    ['type'],
  ),
  'Further code hosts, by name: add --repo NAME:owner/name',
  '^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$',
);
/** The section `submodules`. */
export const SUBMODULES = named(
  named(list(text('A repository'))),
  "Submodules that an app fetches with another app's token: {APP: {OTHER: [owner/name]}}",
);
