/**
 * Failures: a code for scripts, one sentence for people, and an exit status. Only cli/main.ts uses the
 * status; everything below it throws a Failure.
 */

/** Exit statuses, the same in all executables. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Of commands that deploy: the rollback failed too. */
  rollbackFailed: 3,
  /** EX_TEMPFAIL of sysexits.h: another process holds the lock, try again later. */
  busy: 75,
  /** As of a shell. */
  notExecutable: 126,
  notFound: 127,
} as const;

/** Exit status after a signal, as in a shell: 130 for Ctrl-C. */
export function signalStatus(signal: NodeJS.Signals): number {
  return 128 + process.getBuiltinModule('node:os').constants.signals[signal];
}

/** Part of the interface: scripts compare them, and `docs/errors.md` lists them. */
export const FAILURE_CODES = [
  'app_exists',
  'app_not_found',
  'approval_refused',
  'approval_required',
  'audit_busy',
  'audit_unwritable',
  'backup_unreadable',
  'branch_not_found',
  'broker_failed',
  'broker_refused',
  'broker_unreachable',
  'broker_unsafe',
  'code_host_error',
  'commit_disagrees',
  'commit_not_signed',
  'config_invalid',
  'database_in_use',
  'delivery_failed',
  'deploy_file_invalid',
  'deploy_not_found',
  'disk_full',
  'event_invalid',
  'events_forged',
  'file_unreadable',
  'fleet_not_configured',
  'force_needed',
  'foreign_file',
  'git_failed',
  'grant_invalid',
  'guard_tripped',
  'insecure_address',
  'instance_not_found',
  'job_not_found',
  'interrupted',
  'lfs_unsupported',
  'lineage_broken',
  'lock_unavailable',
  'locked',
  'log_not_found',
  'message_not_found',
  'mkey_exposed',
  'mkey_malformed',
  'mkey_missing',
  'mkey_unknown',
  'name_invalid',
  'network_error',
  'no_token_configured',
  'not_configured',
  'not_imported',
  'not_ready',
  'not_writable',
  'order_invalid',
  'output_failed',
  'paused',
  'plan_changed',
  'plan_ended',
  'plan_invalid',
  'plan_not_found',
  'program_not_executable',
  'program_not_found',
  'rate_limited',
  'ref_ambiguous',
  'ref_not_found',
  'repo_not_found',
  'root_in_use',
  'rollout_not_found',
  'rollout_running',
  'sandbox_unavailable',
  'schema_changed',
  'secret_corrupt',
  'secret_not_found',
  'secret_wrong_app',
  'server_offline',
  'server_unknown',
  'setup_failed',
  'signature_invalid',
  'signers_invalid',
  'signing_failed',
  'state_malformed',
  'state_unsupported',
  'stop_failed',
  'submodule_unsupported',
  'tag_not_found',
  'token_corrupt',
  'token_invalid',
  'token_source_no_token',
  'token_source_not_found',
  'token_wrong_app',
  'token_wrong_host',
  'usage',
  'version_not_found',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Exit statuses other than 1. */
const STATUS_OF: Partial<Readonly<Record<FailureCode, number>>> = {
  usage: EXIT.usage,
  locked: EXIT.busy,
  program_not_executable: EXIT.notExecutable,
  program_not_found: EXIT.notFound,
  rollout_running: EXIT.busy,
};

/** An expected error: `message` is one sentence without a full stop and without secrets. */
export class Failure extends Error {
  readonly code: FailureCode;
  /** Further fields of the JSON object, e.g. `{valid: false, http_status: 401}`. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: FailureCode,
    message: string,
    facts: Record<string, unknown> = {},
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'Failure';
    this.code = code;
    this.facts = facts;
  }

  /** The files of dist/lib have copies of this class: a failure is one for every copy. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return error instanceof Error && error.name === 'Failure';
  }

  get status(): number {
    return STATUS_OF[this.code] ?? EXIT.failed;
  }
}

/** Ctrl-C at a prompt, or another signal; the exit status is that of the signal. */
export class Interrupted extends Failure {
  readonly #signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals = 'SIGINT') {
    super('interrupted', 'cancelled, nothing was changed');
    this.#signal = signal;
  }

  override get status(): number {
    return signalStatus(this.#signal);
  }
}

/** Wrong usage, in clap's words. */
export function usage(message: string): Failure {
  return new Failure('usage', message);
}

/** Refuses the value of an option or argument, as clap words it. */
export function invalidValue(value: string | undefined, title: string, why: string): Failure {
  return usage(`invalid value '${value}' for '${title}': ${why}`);
}

/** Refuses a command line without `what`. */
export function notProvided(what: string): Failure {
  return usage(`the following required arguments were not provided: ${what}`);
}

/** Errors of Linux that Node calls UNKNOWN. */
const UNNAMED: Readonly<Record<string, string>> = { '-116': 'ESTALE', '-122': 'EDQUOT' };

/** The `code` of an operating-system error (`ENOENT`, …), or undefined. */
export function systemCode(error: unknown): string | undefined {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
  if (code === 'UNKNOWN') return UNNAMED[String(errno)] ?? code;
  return typeof code === 'string' ? code : undefined;
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EAGAIN: 'too many processes',
  EBUSY: 'it is in use',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'it exists already',
  EFBIG: 'the file would be larger than allowed',
  EIO: 'the disk reports an error (EIO)',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a symbolic link',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'it does not exist',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'a part of its path is not a directory',
  ENOTEMPTY: 'the folder is not empty',
  ENXIO: 'it is not a regular file',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ETXTBSY: 'it is in use',
};

/** An operating-system error in words: `no space left on the disk`. */
export function systemWords(error: unknown): string {
  const code = systemCode(error);
  return (code && SYSTEM_WORDS[code]) || code || 'unexpected error';
}

/**
 * Turns an operating-system error into a Failure, `disk_full` or `otherwise`; any other error passes
 * through. `doing` completes "cannot …", e.g. `write /opt/runner/config.yml`.
 */
export function systemFailure(
  error: unknown,
  doing: string,
  otherwise: FailureCode = 'not_writable',
): unknown {
  const code = systemCode(error);
  if (error instanceof Failure || code === undefined) return error;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const message = `cannot ${doing}: ${systemWords(error)}`;
  return new Failure(full ? 'disk_full' : otherwise, message, {}, error);
}
