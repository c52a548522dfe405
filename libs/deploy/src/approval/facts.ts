/** What a plan is bound to: how things are, each under a name, in words or as a fingerprint. */
import { openSecrets, secretFingerprint } from '@runner/common/app-secrets/open';
import { migrationsOn } from '@runner/common/apps/migrations-on';
import { stateFacts } from '@runner/common/apps/plan-words';
import type { CommandPlan } from '@runner/common/apps/plans';
import type { AppState } from '@runner/common/apps/state';
import { hashOf } from '@runner/common/audit/chain';
import { approvalRuleOf } from '@runner/common/config/approval';
import { type Config, readConfig } from '@runner/common/config/file';
import { activeChannels, notifySettingsOf, retryPolicyOf } from '@runner/common/config/settings';
import { readIfThere } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import type { Tree } from '@runner/common/yaml/schema';
import { grantChange } from './grants.ts';

/** Facts by their names. */
export type PlanFacts = CommandPlan['facts'];

/** What a fact is that cannot be shown, and one that redaction would change. */
const HIDDEN = '#';
const REDACTED = '#=';
const NONE = 'none';

const hashed = (value: unknown) => HIDDEN + hashOf(JSON.stringify(value)).slice(0, 16);

/** The facts of an app for one of its commands. Throws what reading config.yml and secrets throws. */
export function factsOf(
  { io, paths }: Server,
  app: AppState,
  verb: CommandPlan['verb'],
): PlanFacts {
  const config = readConfig(paths);
  const { file, all } = openSecrets(paths, io.env, app.app);
  const secrets = all.map((each): [string, string] => [
    `secret ${each.name}${each.instance === '*' ? '' : ` of ${each.instance}`}`,
    HIDDEN + (file ? secretFingerprint(file, each) : ''),
  ]);
  const files = Object.entries(app.instances).flatMap(([name, { current }]) => {
    const kept = current && readIfThere(paths.app(app.app).fileOf(current.release), FILE_MAX);
    return kept ? [[`.deploy.yml of ${name}`, hashed(kept.toString('latin1'))]] : [];
  });
  const { failures, migrating, contracted = null } = app;
  const {
    repo,
    host,
    branch,
    tags,
    paths: some,
    deploy_file,
    require_checks,
    require_signed,
  } = app;
  const isBlocked = failures && failures.count >= retryPolicyOf(config).max;
  const migrations = migrationsOn({ paths, app });
  const newest = migrations.findLast(({ gone }) => !gone);
  const schema = [newest?.deploy_id, newest?.verdict, migrating?.at, contracted, migrations.length];
  return {
    ...stateFacts(app, io.now()),
    ...Object.fromEntries([...files, ...secrets, ...settingsFor(config, app.app)]),
    block: isBlocked ? failures.commit.slice(0, 12) : NONE,
    repository: hashed([repo, host, branch, tags, some]),
    'required checks and signatures': hashed([require_checks, require_signed]),
    "operator's .deploy.yml": deploy_file ? hashed([deploy_file.text, deploy_file.wins]) : NONE,
    'schema of the database': hashed(schema),
    'active channels': activeChannels(notifySettingsOf(config, io.env)).join(', ') || NONE,
    'required approvals': hashed(rule(config, app.app, verb)),
  };
}

const FILE_MAX = 1_048_576;

function rule(config: Config, app: string, verb: CommandPlan['verb']): unknown {
  const { counts, by, notAuthor } = approvalRuleOf(config, app);
  return [counts[verb], verb === 'deploy' && counts.contract, by, notAuthor];
}

/** Settings that have facts of their own, or concern no app. */
const APART = /^(?:notify|require_approval|max_deploy_retries|telegram_.*|discord_.*)$/;
/** Sections whose keys are apps. */
const BY_APP = ['sandbox.apps', 'sandbox.allow', 'sandbox.network', 'submodules', 'build.apps'];

/** A fact for each top-level setting, without what is about other apps. */
function settingsFor({ tree }: Config, app: string): [string, string][] {
  const entries = tree?.kind === 'map' ? tree.entries : [];
  return entries
    .filter(({ key }) => !APART.test(key))
    .map(({ key, value }) => [`setting ${key}`, hashed(plain(value, key, app))]);
}

function plain(tree: Tree, path: string, app: string): unknown {
  if (tree.kind === 'scalar') return tree.source;
  if (tree.kind === 'list')
    return tree.items
      .filter((each) => isAbout(each, path, app))
      .map((each) => plain(each, path, app));
  const own = BY_APP.includes(path) ? tree.entries.filter(({ key }) => key === app) : tree.entries;
  return own.map(({ key, value }) => [key, plain(value, `${path}.${key}`, app)]);
}

/** A window may be of another app. */
function isAbout(tree: Tree, path: string, app: string): boolean {
  if (path !== 'deploy_windows' || tree.kind !== 'map') return true;
  const named = tree.entries.find(({ key }) => key === 'app')?.value;
  return named?.kind !== 'scalar' || named.value === null || named.value === app;
}

/** Facts for a file: of a text with a secret in it, a hash. */
export function hideIn(facts: PlanFacts, redact: (text: string) => string): PlanFacts {
  return Object.fromEntries(
    Object.entries(facts).map(([name, is]) => [name, redact(is) === is ? is : redacted(is)]),
  );
}

const redacted = (fact: string) => REDACTED + hashed(fact);

/** What keeps a plan from being approved. Where a rollback goes is compared when it is applied. */
export function changesSince(server: Server, app: AppState, plan: CommandPlan): string[] {
  const planned = Object.entries(plan.facts).filter(([name]) => !name.startsWith('goal of '));
  const changed = changedFacts(Object.fromEntries(planned), factsOf(server, app, plan.verb));
  return [...grantChange(server.io.env, plan), ...changed];
}

/** Whether a plan cannot be approved any more; false where that cannot be read. */
export const isOutdated = (server: Server, app: AppState, plan: CommandPlan) =>
  unlessFailure(() => changesSince(server, app, plan).length > 0, false);

/** A sentence for each fact that is not as it was planned. */
export function changedFacts(planned: PlanFacts, now: PlanFacts): string[] {
  return [...new Set([...Object.keys(planned), ...Object.keys(now)])].sort().flatMap((name) => {
    const [was, is] = [planned[name] ?? NONE, now[name] ?? NONE];
    if (was === is || was === redacted(is)) return [];
    if (!was.startsWith(HIDDEN) && !is.startsWith(HIDDEN))
      return [`${name} was ${was} and is ${is}`];
    const how = was === NONE ? 'set' : is === NONE ? 'removed' : 'changed';
    return [`${name} was ${how}`];
  });
}
