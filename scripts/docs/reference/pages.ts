/** What the pages of section 5 say beyond the keys. */
import { CONFIG_SCHEMA } from '@runner/common/config/schema';
import { DEPLOY_SCHEMA } from '@runner/common/deploy-file/schema';
import { filePage } from './file-pages.ts';
import { bold, escaped, filled, italic, item, page, section, verbatim } from './roff.ts';
import { reference } from './tool-page.ts';

/** Where a package puts the JSON Schemas. */
const SCHEMAS = '/usr/share/runner/schemas';

/** `runner-config(5)`. */
export const configPage = (version: string): string =>
  filePage(
    {
      name: 'runner-config',
      about: 'global configuration of runner',
      schema: CONFIG_SCHEMA,
      intro:
        'config.yml is in the root (/opt/runner, --root or RUNNER_ROOT). Only its owner may read it, because it ' +
        'contains secrets. It is YAML 1.2 without aliases, at most 64 KiB. Each command checks the keys that it ' +
        'uses and reports file, line and key of a mistake; unknown keys are ignored. A missing file counts as ' +
        'empty, a key without a value as absent. The three credentials may be at the top level or in notify. An ' +
        'address that receives a secret must be https; http is allowed only for localhost. ' +
        'RUNNER_CODE_HOST_API_URL, RUNNER_CODE_HOST_GIT_URL and RUNNER_TELEGRAM_API_URL override the file.',
      example: [
        `# yaml-language-server: $schema=${SCHEMAS}/config.schema.json`,
        'notify:',
        '  channel: both',
        '  telegram_bot_token: "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"',
        '  telegram_chat_id: "-1001234567890"',
        '  discord_webhook: https://discord.com/api/webhooks/1/abc',
        '  max_deploy_retries: 3',
      ],
      files: [
        ['/opt/runner/config.yml', 'The file'],
        [`${SCHEMAS}/config.schema.json`, 'Its JSON Schema, for editors'],
      ],
      see: ['runner(1)', 'runner-notify(1)', 'runner-deploy.yml(5)'],
    },
    version,
  );

/** `runner-deploy.yml(5)`. */
export const deployFilePage = (version: string): string =>
  filePage(
    {
      name: 'runner-deploy.yml',
      about: 'how an app is built, started and checked',
      schema: DEPLOY_SCHEMA,
      intro:
        'A file called .deploy.yml in the root of the repository, read from the commit that is deployed. It is ' +
        'YAML 1.2 without aliases, at most 64 KiB; unknown keys are refused with file, line and key. Without the ' +
        'file, the commit is checked out and switched to, nothing is started and no notification is sent. A time ' +
        'is written 500ms, 30s, 5m or 1h; a bare number is seconds.',
      example: [
        `# yaml-language-server: $schema=${SCHEMAS}/deploy.schema.json`,
        'instances: { default: { domain: app.example.org, env: { PORT: "3000" } } }',
        'build: [npm ci, npm run build]',
        'start: { type: systemd, unit: app.service }',
        'health: { url: "http://127.0.0.1:${PORT}/health", within: 30s }',
        'notify: {}',
      ],
      files: [
        ['.deploy.yml', 'The file, in the root of the repository'],
        [`${SCHEMAS}/deploy.schema.json`, 'Its JSON Schema, for editors'],
      ],
      see: ['runner-deploy(1)', 'runner-config(5)', 'runner-audit-log(5)'],
    },
    version,
  );

/** Fields of a record: name, what it is. The first eight are in every record. */
const FIELDS: readonly (readonly [name: string, about: string])[] = [
  ['timestamp', 'When, ISO 8601 in UTC with milliseconds'],
  [
    'event_type',
    'DeployStarted, DeploySuccess, DeployFailure, RollbackSuccess, GuardBypassed or AgentCall',
  ],
  ['project', 'Name of the app'],
  ['event', 'The same as event_type'],
  ['app', 'The same as project'],
  ['instance', 'Name of the instance'],
  ['version', 'The exact tag on the commit, else the first 12 characters of its id'],
  ['deploy_id', '8 characters, the same in all records and messages of one deploy'],
  ['instances', 'All instances of the deploy; each has its own record'],
  ['commit', 'Full id of the commit'],
  ['trigger', 'What started it: manual, fetch or recovery'],
  ['domain', 'Domain of the instance'],
  ['plan', 'The plan that was applied, or that is announced'],
  ['approved_by', 'Who approved it'],
  ['emergency', 'Why root went on without an approval'],
  ['user', 'Who started it: the login, before sudo; timer if systemd did'],
  ['order', 'Id of the order of a fleet, for runner fleet results'],
  ['subject', "First line of the commit's message"],
  ['author', "Name of the commit's author"],
  ['signed_by', 'Who signed the commit: principal, key and kind, where signatures are required'],
  ['rewrite_of', 'The last accepted commit, which this one does not descend from'],
  ['changes', 'Commits of the deploy: their count, up to five subjects, and the authors'],
  ['tree', 'SHA-256 of what the release holds'],
  ['statement', 'SHA-256 of the signed statement about the release'],
  ['committed_at', 'When the commit was made, ISO 8601 in UTC'],
  ['previous_version', 'The version that was active before'],
  ['duration_ms', 'How long it took, in milliseconds'],
  ['steps', 'How long each stage took: stage and ms'],
  [
    'migration',
    'How the version before gets on with the database: proven, additive, broken, unknown',
  ],
  ['migration_reasons', 'Why'],
  ['migration_restore', 'How to restore the backup that was made before the migration'],
  ['database_backup', 'The backup of the database that was restored with a rollback'],
  ['gap_ms', 'Longest time without an answer to the probes, in milliseconds'],
  ['canary', 'The shares that the release got first: percent, verdict and reason'],
  ['network', 'Hosts that builds and hooks with a list reached, with connections and bytes'],
  ['network_refused', 'Hosts that were refused'],
  ['expires_at', 'TokenEnding and CertEnding: when it ends, ISO 8601 in UTC'],
  ['restarts', 'AppDown: restarts in the last 10 minutes, of an app that crashes again and again'],
  ['oom', 'AppDown: true when the kernel killed it for want of memory'],
  ['job', 'JobFailed, JobMissed, JobRecovered and JobSlow: name of the job'],
  ['preview_of', 'Of what became of a preview: its app'],
  ['failed_instance', 'Which of several instances failed'],
  ['interrupted', 'true when Ctrl-C or runner cancel ended the deploy'],
  ['cancelled_by', 'who ran runner cancel'],
  ['error', 'Why it failed, in full'],
  ['stage', 'Stage at which it failed'],
  ['log', "Path of the deploy's own log below the root"],
  ['cause', 'The lines of error that say why'],
  ['truncated', 'true when error was longer than 64 KiB: its head and tail are kept'],
  ['from_commit', 'The commit that was abandoned by a manual rollback'],
  ['from_version', 'The version that was abandoned by a rollback'],
  ['reason', 'Reason of a rollback; nothing was switched after a failed deploy with traffic'],
  ['rolled_back', 'true after an automatic rollback, false when that failed too'],
  ['blocked', 'true when the commit is not tried again until the next push'],
  ['muted', 'true when the server failed it, and the same failure is not announced again'],
  ['source', "the tool whose event it is; records without it are runner's own"],
  ['late', 'true when the record had to wait in spool/audit until the log could be written'],
  ['seq', 'number of the record in the chain, from 1'],
  ['prev', 'hash of what precedes the record: the first 32 hexadecimal digits of SHA-256'],
  ['guards', 'GuardBypassed: what was bypassed, guard and path of each'],
  ['command', 'GuardBypassed: by which command'],
  ['uid', 'GuardBypassed: id of the user'],
  ['sudo_user', 'GuardBypassed: who became that user with sudo'],
  ['grant', 'AgentCall: whose call it was; empty without a grant'],
  ['tool', 'AgentCall: the tool'],
  ['outcome', 'AgentCall: begun, done, running, or the code of the failure'],
  ['arguments', 'AgentCall: the SHA-256 of the arguments'],
];

/** How many of the fields every record has. */
const ALWAYS = 6;

/** `runner-audit-log(5)`. */
export function auditLogPage(version: string): string {
  const fieldItems = (fields: typeof FIELDS) =>
    fields.flatMap(([name, about]) => item(bold(name), ...filled(escaped(about))));
  return page('runner-audit-log', 5, version, [
    ...section('NAME', filled(`${escaped('runner-audit-log')} \\- audit log of deploy events`)),
    ...section(
      'DESCRIPTION',
      filled(
        `${italic('logs/deploy-events.jsonl')} ${escaped(
          'under the root has one JSON object per line for every event of a deploy. A record is on disk ' +
            'before the next step starts, and each is appended in one write. Control and bidirectional ' +
            'characters are written as \\u escapes. Readers also accept event and app instead of event_type and ' +
            'project, keep unknown fields, and skip lines that they cannot read.',
        )}`,
      ),
    ),
    ...section('FIELDS', [
      ...fieldItems(FIELDS.slice(0, ALWAYS)),
      '.PP',
      'Where they apply:',
      ...fieldItems(FIELDS.slice(ALWAYS)),
    ]),
    ...section(
      'ROTATION',
      filled(
        escaped(
          "Rotate by renaming, with logrotate's nocreate: every append opens the file again, so no signal is " +
            'needed. create and copytruncate lose records. Readers continue with deploy-events.jsonl.1 and ' +
            'the compressed files after it.',
        ),
      ),
    ),
    ...section('EXAMPLES', [
      ...verbatim([
        `jq -r 'select(.event_type == "DeployFailure") | [.timestamp, .project] | @tsv' \\`,
        '  /opt/runner/logs/deploy-events.jsonl',
      ]),
    ]),
    ...section(
      'SEE ALSO',
      filled(['runner-audit(1)', 'runner-debug(1)', 'jq(1)'].map(reference).join(', ')),
    ),
  ]);
}
