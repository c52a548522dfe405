/** Whether what runs of an app is what was made: read-only, without git and the network. */
import type { KeyObject } from 'node:crypto';
import type { Deployed } from '@runner/common/apps/deployed';
import type { SignedBy } from '@runner/common/apps/signed';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { hashOf } from '@runner/common/audit/chain';
import type { NetworkHost } from '@runner/common/audit/network';
import { activeRecords } from '@runner/common/audit/newest';
import type { LogRecord } from '@runner/common/audit/record';
import { liveHolder } from '@runner/common/files/lock';
import { isThere, readTextIfThere } from '@runner/common/files/read';
import { failureIn, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, usage } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { fileOfRelease } from '../instances/kept-file.ts';
import { opened, ownPublicKey, pemOf } from './envelope.ts';
import { claimsOf, type ReleaseClaims, statementText, TREE_MAX } from './seal.ts';
import { environmentDifferences, folderDifferences, linkDifferences } from './surroundings.ts';
import { type Difference, treeChanges, treeText } from './tree.ts';
import { digestOf, unitDigests } from './units.ts';

/** What runs in an instance, and what is not as it was. */
export interface VerifiedInstance
  extends Pick<Deployed, 'version' | 'commit' | 'release' | 'deploy_id'> {
  readonly instance: string;
  /** ISO 8601; null without a statement. */
  readonly built_at: string | null;
  readonly signed_by: SignedBy | null;
  /** Hosts that its build reached, as the audit log has them; null: any, or it is not known. */
  readonly network: readonly NetworkHost[] | null;
  /** SHA-256 of what is in its release now; null if that is not there. */
  readonly tree: string | null;
  /** Whether there is a statement; a release of an older version has none. */
  readonly has_statement: boolean;
  /** Whether the audit log has the hash of the statement: else root can have made another one. */
  readonly proven: boolean;
  readonly differences: readonly Difference[];
  /** What could not be looked at, a sentence each. */
  readonly notes: readonly string[];
}

/** What is known of an instance when it is verified, and what is found. */
interface Examined extends Server {
  readonly app: AppState;
  readonly name: string;
  readonly current: Deployed;
  /** The lines of its release now; null if that is not there. */
  readonly tree: string | null;
  readonly differences: Difference[];
  readonly notes: string[];
}

/** What a release was, as its statement and the audit log have it. */
interface Made {
  readonly text: string | undefined;
  readonly isSigned: boolean;
  readonly claims: ReleaseClaims | undefined;
  readonly record: LogRecord | undefined;
}

/**
 * Verifies what is active in each instance. Throws `version_not_found`, `locked` if another command
 * changes the app meanwhile, `interrupted`, `signature_invalid`, `guard_tripped`, `file_unreadable`.
 */
export async function verifyActive(
  { io, paths, signal }: Server & { readonly signal: AbortSignal },
  app: AppState,
): Promise<VerifiedInstance[]> {
  const key = ownPublicKey(paths);
  const trees = new Map<string, string | null>();
  const found: VerifiedInstance[] = [];
  for (const [name, { current }] of Object.entries(app.instances)) {
    if (!current) continue;
    const { release } = current;
    const folder = paths.app(app.app).release(release);
    if (!trees.has(release))
      trees.set(release, isThere(folder) ? await treeText(folder, signal) : null);
    const tree = trees.get(release) ?? null;
    const seen: Examined = { io, paths, app, name, current, tree, differences: [], notes: [] };
    found.push(await verified(seen, key));
  }
  if (found.length === 0)
    throw new Failure('version_not_found', `nothing of '${app.app}' is deployed yet`);
  const isChanging = () =>
    liveHolder(paths.lock(app.app)) !== undefined ||
    JSON.stringify(findApp(paths, app.app)?.instances) !== JSON.stringify(app.instances);
  if (found.some(({ differences }) => differences.length > 0) && isChanging())
    throw new Failure('locked', `another command is changing '${app.app}': try again`);
  return found;
}

async function verified(seen: Examined, key: KeyObject | undefined): Promise<VerifiedInstance> {
  const { paths, app, name, current, tree, differences, notes } = seen;
  const { version, commit, release, deploy_id } = current;
  const text = unlessFailure(() => statementText(paths.app(app.app), release), '');
  const envelope = text === undefined ? undefined : opened(text, key);
  const claims = envelope && claimsOf(envelope.value);
  const where = { app: app.app, instance: name, deployId: deploy_id };
  const { newest, made: record } = await activeRecords(paths, where);
  if (newest && newest.late !== true && newest.commit !== commit)
    differs(seen, 'log', paths.auditLog, 'disagrees');
  const made = { text, isSigned: envelope?.isSigned ?? false, claims, record };
  statementDifferences(seen, made);
  differences.push(...folderDifferences(paths.app(app.app), name, release));
  treeDifferences(seen, made);
  fileDifferences(seen, claims);
  return {
    instance: name,
    version,
    commit,
    release,
    deploy_id,
    built_at: claims?.built_at ?? null,
    signed_by: claims?.signed_by ?? null,
    network: (record?.network as NetworkHost[] | undefined) ?? null,
    tree: tree === null ? null : hashOf(tree),
    has_statement: text !== undefined,
    proven: text !== undefined && record?.statement === hashOf(text),
    differences,
    notes,
  };
}

function differs(
  { differences }: Examined,
  what: Difference['what'],
  path: string,
  change: Difference['change'],
): void {
  differences.push({ what, path, change });
}

/** The statement itself: there, whole, signed by this server, about this release, and in the log. */
function statementDifferences(seen: Examined, { text, isSigned, claims, record }: Made): void {
  const { app, current, paths, notes } = seen;
  const path = paths.app(app.app).statementOf(current.release);
  const recorded = record?.statement;
  if (text === undefined) {
    if (typeof recorded === 'string') differs(seen, 'statement', path, 'removed');
    else notes.push('no statement: it was deployed by an older version of runner');
    return;
  }
  const isAbout =
    claims?.name === `${app.app}/${current.release}` &&
    [claims.version, claims.commit].join(' ') === [current.version, current.commit].join(' ');
  if (!claims) differs(seen, 'statement', path, 'changed');
  else if (!isSigned) differs(seen, 'statement', path, 'unsigned');
  else if (!isAbout) differs(seen, 'statement', path, 'disagrees');
  if (!record) notes.push('the audit log has no record of its deploy');
  else if (recorded !== hashOf(text)) differs(seen, 'log', path, 'disagrees');
}

function treeDifferences(seen: Examined, { claims, record }: Made): void {
  const { app, current, paths, tree } = seen;
  const own = paths.app(app.app);
  const was = typeof record?.tree === 'string' ? record.tree : claims?.tree;
  if (tree === null) differs(seen, 'release', own.release(current.release), 'removed');
  if (was === undefined) return;
  const list = unlessFailure(() => readTextIfThere(own.treeOf(current.release), TREE_MAX), '');
  const isList = list !== undefined && hashOf(list) === was;
  if (!isList)
    differs(
      seen,
      'statement',
      own.treeOf(current.release),
      list === undefined ? 'removed' : 'changed',
    );
  if (tree === null || hashOf(tree) === was) return;
  if (!isList) differs(seen, 'release', '.', 'changed');
  else
    seen.differences.push(
      ...treeChanges(list, tree).map((each) => ({ what: 'release' as const, ...each })),
    );
}

/** `.deploy.yml`, units, links and environment. */
function fileDifferences(seen: Examined, claims: ReleaseClaims | undefined): void {
  const { io, paths, app, name, current, notes } = seen;
  const own = paths.app(app.app);
  const kept = own.fileOf(current.release);
  if (claims && digestOf(kept) !== claims.deployFile)
    differs(seen, 'deploy_file', kept, isThere(kept) ? 'changed' : 'removed');
  const file = fileOfRelease(paths, app.app, current);
  const instance = file?.instances.find((each) => each.name === name);
  if (!file || !instance) {
    notes.push('its units, links and environment were not looked at: its .deploy.yml has changed');
    return;
  }
  const units = claims ? unitDigests(seen, file) : {};
  for (const path of new Set([...Object.keys(claims?.units ?? {}), ...Object.keys(units)])) {
    const [was, is] = [claims?.units[path], units[path]];
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    if (was !== is) differs(seen, 'unit', path, change);
  }
  const place = { io, paths, app, file, instance, release: own.release(current.release) };
  seen.differences.push(...linkDifferences(place));
  const failure = failureIn(() => seen.differences.push(...environmentDifferences(place)));
  if (failure) notes.push(`its environment was not looked at: ${failure.message}`);
}

/**
 * The signed statement of what runs in instances, byte for byte. Throws `version_not_found` without one,
 * `usage` if they run different releases.
 */
export function activeStatement(
  paths: Paths,
  app: string,
  instances: readonly (readonly [name: string, current: Deployed])[],
): { readonly statement: string } {
  const [active] = instances.map(([, current]) => current);
  if (instances.some(([, { release }]) => release !== active?.release)) {
    const shown = instances.map(([name, { version }]) => `${name} ${version}`).join(', ');
    throw usage(`the instances of '${app}' run different releases (${shown}): add --instance`);
  }
  const statement = active && statementText(paths.app(app), active.release);
  if (statement !== undefined) return { statement };
  throw new Failure('version_not_found', `what runs of '${app}' has no statement: deploy it again`);
}

/** The server's public key as PEM. Throws `version_not_found` before the first deploy. */
export function publicKey(paths: Paths): string {
  const key = ownPublicKey(paths);
  if (key) return pemOf(key);
  throw new Failure('version_not_found', 'there is no key yet: the first deploy makes it');
}
