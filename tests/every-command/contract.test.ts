import { FAILURE_CODES } from '@runner/common/foundation/failure';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandNames } from './commands.ts';
import { CONTRACT } from './contract.ts';

/** Their commands need a broker or an operator's files: tests/fleet has their contract. */
const FLEET = ['runner-agent', 'runner-fleet'];

/** It needs an empty root and a backup: tools/runner-restore/test has its contract. */
const EMPTY_ROOT = ['runner-restore'];

test('every command of every executable is in the contract, and no other', () => {
  const built = commandNames()
    .filter(({ tool }) => ![...FLEET, ...EMPTY_ROOT].includes(tool))
    .map(({ tool, words }) => [tool.replace(/^runner-/, ''), ...words].join(' '));
  assert.equal(CONTRACT.map(({ command }) => command).sort(), built.sort());
});

/** Codes that the contract leaves to other tests, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  backup_unreadable: 'tools/runner-restore/test/restore.long.test.ts',
  root_in_use: 'tools/runner-restore/test/restore.long.test.ts',
  broker_refused: 'tests/fleet',
  broker_failed: 'tests/fleet',
  broker_unreachable: 'tests/fleet',
  broker_unsafe: 'tests/fleet',
  commit_disagrees: 'tests/fleet',
  events_forged: 'tests/fleet',
  fleet_not_configured: 'tests/fleet',
  order_invalid: 'tests/fleet',
  rollout_not_found: 'tests/fleet',
  rollout_running: 'tests/fleet',
  server_offline: 'tests/fleet',
  server_unknown: 'tests/fleet',
  signature_invalid: 'tests/fleet',
  signing_failed: 'tests/fleet',
  commit_not_signed: 'tests/signed',
  lineage_broken: 'tests/signed',
  signers_invalid: 'tests/signed',
  git_failed: 'libs/deploy/test/git/failure.test.ts',
  lfs_unsupported: 'tests/deploys/submodules.long.test.ts',
  ref_ambiguous: 'tests/deploys/ref.long.test.ts',
  paused: 'tests/deploys/life.long.test.ts',
  plan_changed: 'tests/approvals/fetch.long.test.ts',
  plan_ended: 'tests/approvals/plan.test.ts',
  plan_invalid: 'tests/approvals/adversary.long.test.ts',
  database_in_use: 'tests/database/sharing.long.test.ts',
  schema_changed: 'tests/database/migrate.long.test.ts',
  force_needed: 'tests/traffic/kinds.long.test.ts',
  foreign_file: 'tools/runner-setup/test/setup.long.test.ts',
  not_ready: 'tests/deploys/preflight.test.ts',
  setup_failed: 'tools/runner-setup/test/setup.long.test.ts',
  sandbox_unavailable: 'tests/sandbox/deploys.test.ts',
  secret_corrupt: 'libs/common/test/app-secrets/open.test.ts',
  secret_wrong_app: 'libs/common/test/app-secrets/open.test.ts',
  stop_failed: 'tools/runner-remove/test/remove.long.test.ts',
  tag_not_found: 'tests/deploys/following.long.test.ts',
  token_wrong_host: 'tests/deploys/code-hosts.long.test.ts',
  submodule_unsupported: 'tests/deploys/submodules.long.test.ts',
  disk_full: 'hard-places.test.ts',
  interrupted: 'signals.test.ts',
};

test('every code is caused by a command of the contract, or elsewhere for a reason', () => {
  const told = new Set(
    CONTRACT.flatMap(({ wrong = [], refusals }) => [
      ...wrong.map(([code]) => code as string),
      ...Object.keys(refusals),
    ]),
  );
  const missing = FAILURE_CODES.filter((code) => !told.has(code) && !(code in ELSEWHERE));
  assert.equal(missing, []);
});

test.run();
