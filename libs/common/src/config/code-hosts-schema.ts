/** The schema of `code_hosts` in config.yml. */
import { type Schema, text } from '../yaml/schema.ts';

const HOST_TYPES = ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket', 'git'] as const;
/** The section `code_hosts`. */
export const CODE_HOSTS: Schema = {
  type: 'object',
  propertyPattern: '^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$',
  description: 'Further code hosts, by name: add --repo NAME:owner/name',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['type'],
    properties: {
      type: { type: 'string', enum: HOST_TYPES, description: 'Its software' },
      api_url: text('Its API [default: derived from git_url; none for the type git]'),
      git_url: text('Its git over https [default: the host of api_url, or the public one]'),
      token_from: text('No longer used: see submodules'),
    },
  },
};
/** The section `submodules`. */
export const SUBMODULES: Schema = {
  type: 'object',
  description:
    "Submodules that an app fetches with another app's token: {APP: {OTHER: [owner/name]}}",
  additionalProperties: {
    type: 'object',
    additionalProperties: { type: 'array', items: text('A repository') },
  },
};
