/**
 * libs/common from the bottom up: a module imports only those that stand before it. A new module
 * has to be placed here, below everything that may use it; `name/` stands for the parts of a
 * module, files in a folder of that name, which may import each other.
 */
export const layersOfCommon = [
  'failure',
  'io',
  'names',
  'secret',
  'text',
  'harmless',
  'prompt',
  'files',
  'lock',
  'paths',
  'exposure',
  'key-file',
  'guards',
  'addresses',
  'schema',
  'config',
  'settings',
  'config-edit',
  'deploy-schema',
  'deploy-file',
  'token-input',
  'keyring',
  'vault',
  'exact-json',
  'apps',
  'app-token',
  'token-source',
  'app-summary',
  'registry',
  'retries',
  'events',
  'audit',
  'audit-scan',
  'error-extract/',
  'error-extract',
  'baselines',
  'http',
  'output',
  'nearest',
  'option',
  'argv',
  'command',
  'help',
  'main',
];

/** Who may import which package: a dependency is known to its owners alone. */
export const ownersOfPackages = new Map([
  ['mri', ['libs/common/src/command.ts']],
  ['undici', ['libs/common/src/http.ts']],
  ['picocolors', ['libs/common/src/output.ts']],
  ['yaml', ['libs/common/src/config.ts', 'libs/common/src/output.ts']],
]);
