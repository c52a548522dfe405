/** Whether a token may be sent to a code host: it goes to its own alone, and the key of an App to GitHub. */
import { findApp } from '../apps/store.ts';
import { codeHostsOf, DEFAULT_HOST } from '../config/code-hosts.ts';
import { Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { isAppName } from '../foundation/names.ts';
import type { Paths } from '../foundation/paths.ts';

interface HostCheckContext {
  readonly io: Pick<Io, 'env'>;
  readonly paths: Paths;
  readonly options: {
    readonly 'app-id': string | undefined;
    readonly 'token-from': string | undefined;
  };
}

/**
 * Checks what is given against the host, by its name. `keeper` is an app that keeps its token. Throws
 * `not_configured` for an App elsewhere than on GitHub, `token_wrong_host` for the token of another host.
 */
export async function requireSuits(
  asker: HostCheckContext,
  { host = DEFAULT_HOST }: { readonly host?: string },
  keeper?: string,
): Promise<void> {
  const { io, paths, options } = asker;
  const source = options['token-from'] ?? keeper;
  const owner = source !== undefined && isAppName(source) ? findApp(paths, source) : undefined;
  const from = owner?.host ?? DEFAULT_HOST;
  const isOther = owner?.state.repohost_token && from !== host;
  const isApp = options['app-id'] !== undefined && host !== DEFAULT_HOST;
  if (!isOther && !isApp) return;
  // Reading YAML is slow to load.
  const { readConfig } = await import('../config/file.ts');
  const hosts = codeHostsOf(readConfig(paths), io.env);
  const [there, here] = [host, from].map((name) => hosts.find((each) => each.name === name));
  if (isApp && there && there.type !== 'github') throw onlyGitHub(there);
  const originOf = (at: typeof there) => at && new URL(at.gitUrl).origin;
  if (!isOther || originOf(there) === originOf(here)) return;
  throw new Failure(
    'token_wrong_host',
    `the token of '${source}' is for the code host ${from}, not for ${host}: give one with --token, --token-file or --public`,
  );
}

/** Only GitHub has Apps. */
export function onlyGitHub({ name, type }: { name: string; type: string }): Failure {
  const why = `the code host ${name} is of the type ${type}: only GitHub has Apps`;
  return new Failure('not_configured', why);
}
