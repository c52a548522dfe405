/**
 * The rooms of each package, bottom to top: a folder imports only folders that stand before it, and
 * a file directly in src/ imports all of them. Inside a folder imports are free, without cycles.
 * A new folder has to be placed here.
 */
export const rooms = new Map([
  [
    'libs/common',
    'foundation text files secrets http yaml config signed deploy-file apps tokens hosts app-secrets guards audit redaction cli',
  ],
  ['libs/extract', 'rules line prefix collect choose'],
  [
    'libs/deploy',
    'sandbox run guard git signed report journal proxy instances packages statement release alerts jobs approval database hold operation rollback lifecycle sleep watch pipeline plan checks fetch changes remove prune proof',
  ],
  ['libs/history', 'log deploys figures now'],
  ['libs/fleet', 'files order broker events'],
  ['tools/runner-agent', 'orders run commands'],
  ['tools/runner-fleet', 'rollout events commands'],
  ['tools/runner-audit', 'log verify commands'],
  ['tools/runner-report', 'model page commands'],
  ['tools/runner-import', 'plan read formats answer commands'],
  [
    'tools/runner-notify',
    'message service dialogue channels spool deliver digest status setup commands',
  ],
  ['tools/runner-setup', 'app steps plan commands'],
  ['tools/runner-doctor', 'foundation checks sandbox commands'],
  ['tools/runner-init', 'look stacks commands'],
  ['tools/runner-preview', 'host plan act commands'],
]);

/** Which packages of ours a library may import; a tool may import every library. */
export const libraries = new Map([
  ['libs/common', []],
  ['libs/extract', ['libs/common']],
  ['libs/backup', ['libs/common']],
  ['libs/deploy', ['libs/common', 'libs/extract', 'libs/backup']],
  ['libs/history', ['libs/common']],
  ['libs/fleet', ['libs/common']],
  ['libs/page', ['libs/common']],
]);

const inBroker = (name) => `libs/fleet/src/broker/${name}.ts`;
const inReport = (name) => `tools/runner-report/src/${name}.ts`;

/** Who may import which package: a dependency is known to its owners alone. */
export const ownersOfPackages = new Map([
  ['acorn', ['tools/runner-import/src/read/javascript.ts']],
  ['croner', ['libs/common/src/deploy-file/schedule.ts']],
  ['age-encryption', ['libs/backup/src/age.ts']],
  ['semver', ['libs/common/src/apps/following.ts', 'libs/deploy/src/git/tags.ts']],
  ['mri', ['libs/common/src/cli/parse.ts']],
  ['undici', ['libs/common/src/http/request.ts']],
  ['@modelcontextprotocol/sdk', ['tools/runner-mcp/src/serve.ts']],
  ['smtp-server', ['libs/testing/src/mail-server.ts']],
  ['standardwebhooks', ['libs/testing/src/receiver.ts']],
  ['nodemailer', ['tools/runner-notify/src/channels/email/smtp.ts']],
  ['picocolors', ['libs/common/src/cli/output.ts']],
  ['@nats-io/transport-node', ['nats', 'broker', 'login'].map(inBroker)],
  ['@nats-io/jetstream', ['nats', 'broker'].map(inBroker)],
  ['@lydell/node-pty', ['libs/testing/src/terminal.ts']],
  [
    'd3-array',
    ['model/outcomes', 'model/lanes', 'model/causes', 'page/outcomes', 'page/durations'].map(
      inReport,
    ),
  ],
  ['d3-scale', ['page/axis', 'page/outcomes', 'page/durations'].map(inReport)],
  ['d3-shape', ['page/durations', 'page/page'].map(inReport)],
  [
    'yaml',
    ['yaml/read', 'config/edit', 'deploy-file/write', 'cli/output'].map(
      (name) => `libs/common/src/${name}.ts`,
    ),
  ],
]);
