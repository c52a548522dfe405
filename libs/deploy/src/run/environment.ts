/** The environment of programs that a deploy runs: an allow-list, without secrets. */
import { existsSync, readFileSync } from 'node:fs';
import { APART } from '@runner/common/foundation/apart';
import { orElse } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import { supervisorFolders } from '../sandbox/hidden.ts';

/** Not LANG and TZ: an app must not depend on who deployed it. */
const PASSED = ['PATH', 'USER', 'LOGNAME', 'TMPDIR', 'SHELL'];

/** How clients find their supervisor. */
const SUPERVISOR = [
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'PM2_HOME',
];

const NETWORK = [
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'all_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'NODE_EXTRA_CA_CERTS',
];

function some(env: Env, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Timers, cron and sudo do not set XDG_RUNTIME_DIR, without which `systemctl --user` does not find its
 * manager.
 */
function runtimeFolder(): Record<string, string> {
  const folder = `/run/user/${process.geteuid?.()}`;
  return existsSync(folder) ? { XDG_RUNTIME_DIR: folder } : {};
}

/** Where distributions keep the system's language. */
const LOCALE_FILES = ['/etc/locale.conf', '/etc/default/locale'];

/** LANG of the system, as systemd sets it for services; `C.UTF-8` if it is not configured. */
function systemLanguage(): string {
  for (const file of LOCALE_FILES) {
    const text = orElse(() => readFileSync(file, 'utf8'), '');
    const language = /^LANG=["']?([\w.@-]+)/m.exec(text)?.[1];
    if (language !== undefined) return language;
  }
  return 'C.UTF-8';
}

/** For builds, hooks and the app itself; without HOME, which is the app's. */
export function stepEnvironment(env: Env): Record<string, string> {
  return {
    PATH: DEFAULT_PATH,
    LANG: systemLanguage(),
    ...runtimeFolder(),
    ...supervisorFolders(env),
    ...some(env, PASSED),
    ...some(env, SUPERVISOR),
    ...some(env, NETWORK),
  };
}

/** Addresses of stand-ins, and options for every Node program. */
const OURS = ['RUNNER_TELEGRAM_API_URL', 'NODE_OPTIONS'];

/** For the notifier, which reads its secrets from config.yml. */
export function notifierEnvironment(env: Env): Record<string, string> {
  return { ...stepEnvironment(env), ...some(env, ['HOME', ...OURS]), [APART]: '1' };
}

/** For git: no user or system configuration, no tracing (which prints headers), English messages. */
export function gitEnvironment(env: Env): Record<string, string> {
  return {
    PATH: DEFAULT_PATH,
    ...some(env, ['PATH', 'TMPDIR']),
    ...some(env, NETWORK),
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'http:https',
  };
}
