/** The options by which add and edit take a GitHub App instead of a token. */

const conflicts = ['token', 'token-file', 'token-from', 'public'] as const;

export const APP_LOGIN_OPTIONS = {
  'app-id': {
    placeholder: 'N',
    conflicts,
    about: 'GitHub App to act as, instead of a token',
  },
  'app-key-file': {
    placeholder: 'FILE',
    conflicts,
    about: 'Private key of the App (PEM); - reads it from standard input',
  },
} as const;
