/** Whether the master keys exist and open every stored token. */
import { existsSync, statSync } from 'node:fs';
import { openSecrets } from '@runner/common/app-secrets/open';
import type { AppState } from '@runner/common/apps/state';
import { visitApps } from '@runner/common/apps/store';
import { failureIn } from '@runner/common/foundation/attempt';
import type { Failure } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { mkeyFile } from '@runner/common/tokens/key-file';
import { type Keyring, readKeyring } from '@runner/common/tokens/keyring';
import { keyIdOf, open } from '@runner/common/tokens/vault';
import { keyProblem } from '@runner/deploy/statement/envelope';
import {
  type CheckResult,
  type Findings,
  orOk,
  problem,
  problemFrom,
  warning,
} from '../foundation/finding.ts';

/** Where systemd keeps the credential for its services; commands run by hand cannot read it. */
const CREDENTIALS = ['/etc/credstore/runner-mkey', '/etc/credstore.encrypted/runner-mkey'];

export function keys({ io, paths }: Server): Findings {
  const sealed: AppState[] = [];
  const locked: [string, Failure][] = [];
  const unreadable: CheckResult[] = [];
  visitApps(
    paths,
    (app) => {
      if (app.state.repohost_token) sealed.push(app);
      const closed = failureIn(() => openSecrets(paths, io.env, app.app));
      if (closed) locked.push([app.app, closed]);
    },
    ({ app, failure }) =>
      unreadable.push(
        problemFrom(failure, restoring(paths, `state/${app}.json`, paths.state(app))),
      ),
  );
  const signing = keyProblem(paths);
  if (signing) {
    const isExposed = signing.code === 'guard_tripped';
    const path = word(paths.statementKey);
    unreadable.push(problemFrom(signing, isExposed ? `chmod 600 ${path}` : `rm ${path}`));
  }
  const file = mkeyFile(paths, io.env);
  const restore = () => restoring(paths, 'mkey', file);
  let keyring: Keyring | undefined;
  const failure = failureIn(() => {
    keyring = readKeyring(paths, io.env);
  });
  if (failure) {
    const fix = failure.code === 'mkey_exposed' ? `chmod 600 ${word(file)}` : restore();
    return [...unreadable, problemFrom(failure, fix)];
  }
  if (keyring === undefined) {
    const withSecrets = locked.flatMap(([app, { code }]) => (code === 'mkey_missing' ? app : []));
    if (sealed.length + withSecrets.length === 0)
      return orOk(unreadable, 'no token or secret is stored, so no master key is needed');
    const secrets = `secrets of ${withSecrets.join(', ')} are stored`;
    const stored = sealed.length > 0 ? `${counted(sealed.length)} stored` : secrets;
    if (CREDENTIALS.some((file) => existsSync(file)))
      return orOk(
        unreadable,
        `${stored}; the master key is a systemd credential that only its services receive`,
      );
    const message = `${stored}, but the master key is missing: restore it from a backup`;
    return [...unreadable, problem(message, restore())];
  }
  const ring = keyring;
  const secrets = locked.map(([app, closed]) => {
    const file = restoring(paths, `secrets/${app}.json`, paths.secrets(app));
    return problemFrom(closed, closed.code === 'mkey_unknown' ? restore() : file);
  });
  const closed = [...sealed.flatMap((app) => closedToken(app, ring)), ...secrets];
  const older = keyring.length - 1;
  const rest =
    older > 0 && closed.length === 0
      ? [
          warning(
            `${older} older master key${older === 1 ? ' is' : 's are'} kept: a rekey was interrupted`,
            'runner tokens rekey',
          ),
        ]
      : [];
  const kid = keyring[0].kid;
  const well =
    sealed.length === 0 ? `the master key ${kid} exists` : `the key ${kid} opens every token`;
  return orOk([...unreadable, ...closed, ...rest], well);
}

/** The superuser may run it, so it sets the owner to the account that owns the root. */
function restoring({ root }: Paths, name: string, to: string): string {
  const { uid, gid } = statSync(root);
  return `install -o ${uid} -g ${gid} -m 600 <BACKUP>/${name} ${word(to)}`;
}

const counted = (count: number): string => (count === 1 ? '1 token is' : `${count} tokens are`);

function closedToken(app: AppState, keyring: Keyring): Findings {
  const sealed = app.state.repohost_token ?? '';
  const failure = failureIn(() => open(sealed, app.app, keyring));
  if (!failure) return [];
  const kid = failure.code === 'mkey_unknown' ? ` (${keyIdOf(sealed)})` : '';
  return problem(`${failure.message}${kid}`, `runner edit ${app.app} --token -`);
}
