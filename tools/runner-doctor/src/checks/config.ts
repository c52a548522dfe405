/** Whether config.yml can be read, its values are valid, and no key is misspelt. */

import { approvalRuleOf } from '@runner/common/config/approval';
import { codeHostsOf } from '@runner/common/config/code-hosts';
import { type Config, readConfig } from '@runner/common/config/file';
import { CONFIG_SCHEMA, KEYS } from '@runner/common/config/schema';
import {
  deployPolicyOf,
  type KeyPath,
  notifySettingsOf,
  pick,
  positionOf,
  sectionOf,
} from '@runner/common/config/settings';
import { telemetryOf } from '@runner/common/config/telemetry';
import { isThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { type ObjectSchema, section, type Tree } from '@runner/common/yaml/schema';
import { type Findings, ok, orOk, problemFrom, warning } from '../foundation/finding.ts';
import { updatesUrl } from './updates.ts';

export function config({ io, paths }: Server): Findings {
  const edit = (line: number) => `\${EDITOR:-vi} +${line} ${word(paths.config)}`;
  try {
    const file = readConfig(paths);
    pick(file, Object.keys(KEYS), []);
    codeHostsOf(file, io.env);
    const { windows } = deployPolicyOf(file);
    notifySettingsOf(file, io.env);
    telemetryOf(file);
    updatesUrl(file);
    if (file.tree === undefined) return ok('there is no config.yml: defaults apply');
    const foreign = unknownKeys(file.tree, CONFIG_SCHEMA, '').map(({ key, line }) =>
      warning(`${paths.config}:${line}: ${key} is not a known key`, edit(line)),
    );
    const approved = [...sectionOf(file, 'require_approval').keys()];
    for (const app of approved) approvalRuleOf(file, app);
    const named = [
      ...windows.map(({ app }, index) => ({ app, path: ['deploy_windows', index, 'app'] })),
      ...approved.map((app) => ({ app, path: ['require_approval', app] })),
      ...sandboxed(file),
    ];
    const strangers = named.flatMap(({ app, path }) => {
      if (app === undefined || isThere(paths.state(app))) return [];
      const { line = 1, key } = positionOf(file, path);
      const words = `${paths.config}:${line}: ${key}: no app called '${app}' is registered`;
      return warning(words, edit(line));
    });
    return orOk([...foreign, ...strangers], 'config.yml is valid');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { line } = error.facts;
    return problemFrom(error, edit(typeof line === 'number' ? line : 1));
  }
}

/** The apps that `sandbox` names: for one that is misspelt nothing is limited. */
function sandboxed(file: Config): { app: string; path: KeyPath }[] {
  const sandbox = sectionOf(file, 'sandbox');
  return ['apps', 'allow', 'network'].flatMap((key) => {
    const names = section(sandbox, key)?.keys() ?? [];
    return [...names].map((app) => ({ app, path: ['sandbox', key, app] }));
  });
}

/** Unknown keys are allowed, but often misspelt. */
function unknownKeys(
  tree: Tree,
  schema: ObjectSchema,
  path: string,
): { readonly key: string; readonly line: number }[] {
  if (tree.kind !== 'map') return [];
  return tree.entries.flatMap(({ key, line, value }) => {
    const whole = path === '' ? key : `${path}.${key}`;
    const named = schema.additionalProperties;
    const known = Object.hasOwn(schema.properties ?? {}, key)
      ? schema.properties?.[key]
      : typeof named === 'object'
        ? named
        : undefined;
    if (known === undefined) return [{ key: whole, line }];
    return 'type' in known && known.type === 'object' ? unknownKeys(value, known, whole) : [];
  });
}
