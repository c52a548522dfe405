/** What a release was when it was made, as an in-toto statement with SLSA's provenance, signed by the server. */
import { dirname } from 'node:path';
import type { SignedBy } from '@runner/common/apps/signed';
import { hashOf } from '@runner/common/audit/chain';
import { DEPLOY_FILE } from '@runner/common/deploy-file/read';
import { makeFolder, readIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { AppPaths } from '@runner/common/foundation/paths';
import { isObject } from '@runner/common/text/json';
import type { Contents } from '../git/contents.ts';
import type { GitSource } from '../git/source.ts';
import type { Deploy } from '../journal/operation.ts';
import { enveloped, keyIdOf, ownKey } from './envelope.ts';
import { treeText } from './tree.ts';
import { unitDigests } from './units.ts';

/** Bytes of a statement. */
const STATEMENT_MAX = 1_048_576;
const STATEMENT = 'https://in-toto.io/Statement/v1';
const PROVENANCE = 'https://slsa.dev/provenance/v1';
/** How the rest of the statement is to be read. */
const BUILD_TYPE = 'urn:runner:release:v1';

/** A release that is finished, and not active yet. */
export interface Finished {
  readonly folder: string;
  readonly name: string;
  readonly source: Pick<GitSource, 'gitUrl' | 'repo'>;
  readonly contents: Contents;
}

/**
 * Keeps the tree of a release and the statement about it. Throws `interrupted`, `disk_full`,
 * `not_writable`, `signature_invalid`, `guard_tripped`, `locked`: nothing has been switched yet.
 */
export async function sealRelease(op: Deploy, made: Finished): Promise<void> {
  const paths = op.paths.app(op.app.app);
  const tree = await treeText(made.folder, op.signal);
  const key = ownKey(op);
  makeFolder(dirname(paths.treeOf(made.name)));
  writeWhole(paths.treeOf(made.name), tree, 0o640);
  const subject = [{ name: `${op.app.app}/${made.name}`, digest: { sha256: hashOf(tree) } }];
  const predicate = {
    buildDefinition: definitionOf(op, made),
    runDetails: {
      builder: { id: `urn:runner:server:${keyIdOf(key)}` },
      metadata: { invocationId: op.deployId, finishedOn: op.io.now().toISOString() },
    },
  };
  const value = { _type: STATEMENT, subject, predicateType: PROVENANCE, predicate };
  writeWhole(paths.statementOf(made.name), enveloped(value, key), 0o640);
}

function definitionOf(op: Deploy, { source, contents }: Finished): object {
  const { app, commit, version, about } = op;
  const { file, bytes, from, submodules } = contents;
  const fromGit = ({ gitUrl, repo }: Finished['source'], gitCommit: string) => ({
    uri: `git+${gitUrl}/${repo}`,
    digest: { gitCommit },
  });
  return {
    buildType: BUILD_TYPE,
    externalParameters: { app: app.app, version, commit, deploy_file: from },
    internalParameters: {
      ...(about.signed_by && { signed_by: about.signed_by }),
      units: unitDigests(op, file),
    },
    resolvedDependencies: [
      fromGit(source, commit),
      { name: DEPLOY_FILE, digest: { sha256: hashOf(bytes ?? '') } },
      ...submodules.map((each) => ({ ...fromGit(each.source, each.commit), name: each.path })),
    ],
  };
}

/** What a statement says. */
export type ReleaseClaims = NonNullable<ReturnType<typeof claimsOf>>;

/**
 * Reads a statement of any origin; undefined if it is not about a release. Digests are SHA-256 in hex; a field
 * is undefined where the statement does not have it.
 */
export function claimsOf(value: Readonly<Record<string, unknown>>) {
  const at = (from: unknown, ...path: readonly (string | number)[]) =>
    path.reduce<unknown>((inner, name) => {
      const holder = typeof name === 'number' ? Array.isArray(inner) : isObject(inner);
      return holder ? (inner as Record<string | number, unknown>)[name] : undefined;
    }, from);
  const text = (...path: readonly (string | number)[]) => {
    const found = at(value, ...path);
    return typeof found === 'string' ? found : undefined;
  };
  const definition = ['predicate', 'buildDefinition'] as const;
  if (text(...definition, 'buildType') !== BUILD_TYPE || value._type !== STATEMENT)
    return undefined;
  const parameters = [...definition, 'externalParameters'] as const;
  const metadata = ['predicate', 'runDetails', 'metadata'] as const;
  const internal = at(value, ...definition, 'internalParameters');
  const [signer, units] = [at(internal, 'signed_by'), at(internal, 'units')];
  return {
    /** `APP/RELEASE`. */
    name: text('subject', 0, 'name'),
    tree: text('subject', 0, 'digest', 'sha256'),
    app: text(...parameters, 'app'),
    version: text(...parameters, 'version'),
    commit: text(...parameters, 'commit'),
    deploy_id: text(...metadata, 'invocationId'),
    built_at: text(...metadata, 'finishedOn'),
    signed_by: isObject(signer) ? (signer as unknown as SignedBy) : undefined,
    deployFile: text(...definition, 'resolvedDependencies', 1, 'digest', 'sha256'),
    /** Of unit files, by path. */
    units: isObject(units) ? units : {},
  };
}

/** The envelope of a release; undefined without one. Throws `file_unreadable`. */
export function statementText(paths: AppPaths, release: string): string | undefined {
  return readIfThere(paths.statementOf(release), STATEMENT_MAX)?.toString('utf8');
}

/** What the record of a deploy has of its release; empty without a statement. */
export function sealOf(
  paths: AppPaths,
  release: string,
): { readonly tree?: string; readonly statement?: string } {
  const read = (path: string, most: number) =>
    unlessFailure(() => readIfThere(path, most), undefined);
  const tree = read(paths.treeOf(release), TREE_MAX);
  const statement = read(paths.statementOf(release), STATEMENT_MAX);
  return tree && statement ? { tree: hashOf(tree), statement: hashOf(statement) } : {};
}

/** Bytes of a tree's lines. */
export const TREE_MAX = 536_870_912;
