/** Storing secrets, and what is printed about it. */
import { type NewSecret, setSecrets } from '@runner/common/app-secrets/change';
import { ALL, PREVIEWS } from '@runner/common/app-secrets/file';
import { isRedactable } from '@runner/common/app-secrets/open';
import { requireApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { isPath } from '@runner/common/secrets/places';
import { harmlessLine } from '@runner/common/text/harmless';
import { unreadSecretsOf } from '@runner/deploy/instances/unit-check';
import { type ListedSecret, listSecrets, scopeWords } from './listing.ts';

/** What `set` and `import` print. */
export interface SetSecrets {
  app: string;
  result: 'set';
  /** Those that were set. */
  secrets: ListedSecret[];
  /** The result in words. */
  text: string;
}

type ChangeContext = Pick<Context, 'io' | 'paths' | 'note'>;

/** Stores them all, or none. */
export function store(
  context: ChangeContext,
  app: string,
  added: readonly NewSecret[],
): SetSecrets {
  if (added.length > 0) setSecrets(context, app, added);
  noteUnknownInstance(context, app, added);
  const isShort = (value: string) => !isRedactable(value) && !isPath(value);
  const short = added.filter(({ value, plain }) => !plain && isShort(value.reveal()));
  if (short.length > 0)
    context.note(
      `${short.map(({ name }) => name).join(', ')} ${short.length === 1 ? 'is' : 'are'} too short to be redacted in logs and messages`,
    );
  const isNew = (listed: ListedSecret) =>
    added.some(({ name, instance }) => name === listed.name && instance === listed.instance);
  const secrets = listSecrets(context, app).secrets.filter(isNew);
  return { app, result: 'set', secrets, text: wordsOf(app, secrets, nextStart(context, app)) };
}

/** Units load the secrets from a file, which their authors easily forget. */
export async function noteUnread(context: ChangeContext, name: string): Promise<void> {
  const app = requireApp(context.paths, name);
  const isUnit = Object.values(app.instances).some(({ current }) => current?.start === 'systemd');
  if (!isUnit) return;
  for (const { words } of unreadSecretsOf(context, app)) context.note(words);
}

/** A secret may come before the version that has its instance; more often its name is mistyped. */
function noteUnknownInstance(
  { paths, note }: ChangeContext,
  app: string,
  [first]: readonly NewSecret[],
): void {
  const names = Object.keys(requireApp(paths, app).instances);
  if (!first || [ALL, PREVIEWS].includes(first.instance)) return;
  if (names.length === 0 || names.includes(first.instance)) return;
  note(`'${app}' has no instance '${first.instance}' yet; it has: ${names.join(', ')}`);
}

/** When running instances take up a change, and how to make them. */
export function nextStart({ paths }: Pick<ChangeContext, 'paths'>, app: string): string {
  const isActive = Object.values(requireApp(paths, app).instances).some(({ current }) => current);
  return `applied by its next start${isActive ? `: runner restart ${app}` : ''}`;
}

function wordsOf(app: string, secrets: readonly ListedSecret[], start: string): string {
  const [first] = secrets;
  const name = harmlessLine(app);
  if (!first) return `Nothing to set for ${name}`;
  const one = `${first.name} (${first.fingerprint})`;
  const what = secrets.length === 1 ? one : `${secrets.length} secrets`;
  const next = first.instance === PREVIEWS ? 'each gets it with its next push' : start;
  const when = secrets.every(({ applied }) => applied) ? 'it runs with them' : next;
  return `Set ${what} of ${name}${scopeWords(first.instance)}; ${when}`;
}
