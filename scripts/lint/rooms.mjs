/**
 * The rooms of each package, bottom to top: a folder imports only folders that stand before it, and
 * a file directly in src/ imports all of them. Inside a folder imports are free, without cycles.
 * A new folder has to be placed here.
 */
export const rooms = new Map([
  [
    'libs/common',
    'foundation text files secrets http yaml config deploy-file apps tokens hosts app-secrets guards audit redaction cli',
  ],
  ['libs/extract', 'rules line undress collect choose'],
  [
    'libs/deploy',
    'sandbox run git report record instances release recovery rollback lifecycle pipeline watch fetch changes remove',
  ],
  ['libs/history', 'log deploys figures'],
  ['tools/runner-audit', 'log verify commands'],
  ['tools/runner-notify', 'message service dialogue channels spool deliver status setup commands'],
  ['tools/runner-doctor', 'foundation checks sandbox commands'],
]);

/** Which packages of ours a library may import; a tool may import every library. */
export const libraries = new Map([
  ['libs/common', []],
  ['libs/extract', ['libs/common']],
  ['libs/deploy', ['libs/common', 'libs/extract']],
  ['libs/history', ['libs/common']],
]);

/** Who may import which package: a dependency is known to its owners alone. */
export const ownersOfPackages = new Map([
  ['semver', ['libs/common/src/apps/following.ts', 'libs/deploy/src/git/tags.ts']],
  ['mri', ['libs/common/src/cli/parse.ts']],
  ['undici', ['libs/common/src/http/request.ts']],
  ['picocolors', ['libs/common/src/cli/output.ts']],
  ['@lydell/node-pty', ['libs/testing/src/terminal.ts']],
  ['yaml', ['yaml/read', 'config/edit', 'cli/output'].map((name) => `libs/common/src/${name}.ts`)],
]);
