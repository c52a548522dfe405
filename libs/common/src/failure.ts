/**
 * Every refusal: a code that scripts can compare, one sentence for people, and the exit status
 * that goes with it. Code below `main.ts` throws a Failure and never knows a number.
 */

/** Exit statuses: what each means is the same in all executables, but for 3. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Of those that deploy: the rollback failed as well. */
  rollbackFailed: 3,
  /** Of `notify`: there is no channel to speak of. */
  notConfigured: 3,
  /** EX_TEMPFAIL of sysexits.h: another process holds the lock, try again later. */
  busy: 75,
} as const;

const SIGNAL_NUMBER: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** Exit status of a command that a signal ended, as a shell tells it: 130 for Ctrl-C. */
export function signalStatus(signal: NodeJS.Signals): number {
  return 128 + (SIGNAL_NUMBER[signal] ?? 0);
}

/** Code of a refusal -> exit status. Codes are part of the interface: `docs/errors.md` lists them. */
const STATUS_OF = {
  usage: EXIT.usage,
  app_exists: EXIT.failed,
  app_not_found: EXIT.failed,
  audit_unwritable: EXIT.failed,
  branch_not_found: EXIT.failed,
  code_host_error: EXIT.failed,
  config_invalid: EXIT.failed,
  delivery_failed: EXIT.failed,
  deploy_not_found: EXIT.failed,
  deploy_file_invalid: EXIT.failed,
  disk_full: EXIT.failed,
  event_invalid: EXIT.failed,
  file_unreadable: EXIT.failed,
  git_failed: EXIT.failed,
  guard_tripped: EXIT.failed,
  insecure_address: EXIT.failed,
  instance_not_found: EXIT.failed,
  interrupted: EXIT.failed,
  lfs_unsupported: EXIT.failed,
  locked: EXIT.busy,
  lock_unavailable: EXIT.failed,
  log_not_found: EXIT.failed,
  message_not_found: EXIT.failed,
  mkey_exposed: EXIT.failed,
  mkey_malformed: EXIT.failed,
  mkey_missing: EXIT.failed,
  mkey_unknown: EXIT.failed,
  name_invalid: EXIT.failed,
  network_error: EXIT.failed,
  no_token_configured: EXIT.failed,
  not_configured: EXIT.notConfigured,
  not_writable: EXIT.failed,
  output_failed: EXIT.failed,
  rate_limited: EXIT.failed,
  ref_ambiguous: EXIT.failed,
  ref_not_found: EXIT.failed,
  repo_not_found: EXIT.failed,
  state_malformed: EXIT.failed,
  state_unsupported: EXIT.failed,
  stop_failed: EXIT.failed,
  submodule_unsupported: EXIT.failed,
  token_corrupt: EXIT.failed,
  token_invalid: EXIT.failed,
  token_source_no_token: EXIT.failed,
  token_source_not_found: EXIT.failed,
  token_wrong_app: EXIT.failed,
  version_not_found: EXIT.failed,
} as const;

/** A code of the table: what scripts compare. */
export type FailureCode = keyof typeof STATUS_OF;

/** All codes, for the page that documents them. */
export const FAILURE_CODES = Object.keys(STATUS_OF) as FailureCode[];

/** A refusal that is not a bug: `message` is one sentence without a full stop, free of secrets. */
export class Failure extends Error {
  readonly code: FailureCode;
  /** Fields that `--json` adds beside `error` and `message`, e.g. `{valid: false, http_status: 401}`. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: FailureCode, message: string, facts: Record<string, unknown> = {}) {
    super(message);
    this.name = 'Failure';
    this.code = code;
    this.facts = facts;
  }

  get status(): number {
    return STATUS_OF[this.code];
  }
}

/** Ctrl-C at a question: the exit status is the one that the signal would give. */
export class Interrupted extends Failure {
  constructor() {
    super('interrupted', 'cancelled, nothing was changed');
  }

  override get status(): number {
    return signalStatus('SIGINT');
  }
}

/** Wrong usage, told in clap's words after `error: `. */
export function usage(message: string): Failure {
  return new Failure('usage', message);
}

/** The `code` of an operating-system error (`ENOENT`, …), or undefined. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'it exists already',
  EFBIG: 'the file would be larger than allowed',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a symbolic link',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'it does not exist',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'a part of its path is not a directory',
  ENXIO: 'it is not a regular file',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ETXTBSY: 'it is in use',
};

/** Says an operating-system error in words: `no space left on the disk`. */
export function systemWords(error: unknown): string {
  const code = systemCode(error);
  return (code && SYSTEM_WORDS[code]) || code || 'unexpected error';
}

/**
 * Turns an operating-system error into a Failure (`disk_full` or `otherwise`); a Failure passes
 * through, anything without an error code is a bug and passes through as well.
 * `doing` completes "cannot …", e.g. `write /opt/runner/config.yml`.
 */
export function systemFailure(
  error: unknown,
  doing: string,
  otherwise: FailureCode = 'not_writable',
): unknown {
  const code = systemCode(error);
  if (error instanceof Failure || code === undefined) return error;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new Failure(full ? 'disk_full' : otherwise, `cannot ${doing}: ${systemWords(error)}`);
}
