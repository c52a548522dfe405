/** Writes a `.deploy.yml` for people: each setting on its line, with the reason beside it. */
import { Document, isCollection, isMap, isScalar } from 'yaml';
import { isThere } from '../files/read.ts';
import { readDeployFile } from './read.ts';

/** One setting of a file that runner proposes. */
export interface ProposedSetting {
  /** Keys from the top, e.g. `['instances', 'default', 'env', 'PORT']`. */
  readonly path: readonly string[];
  readonly value: string | number | boolean | readonly (string | number)[];
  /** Why, in a few words, e.g. `package.json: scripts.build`. */
  readonly reason?: string;
}

/** Where a package installs the schema. */
const SCHEMA = '/usr/share/runner/schemas/deploy.schema.json';

/**
 * The text of a file with these settings, in their order; `head` are lines of a comment at its top.
 * Throws `deploy_file_invalid` if runner would refuse the file.
 */
export function deployFileText(
  settings: readonly ProposedSetting[],
  head: readonly string[] = [],
): string {
  const document = new Document({}, { schema: 'core', version: '1.2' });
  for (const { path, value, reason } of settings) {
    const node = document.createNode(value);
    document.setIn(path, node);
    if (reason) explain(document, path, ` ${reason.replace(/\s+/g, ' ').trim()}`);
  }
  const forEditors = isThere(SCHEMA) ? [`yaml-language-server: $schema=${SCHEMA}`] : [];
  document.commentBefore = [...forEditors, ...head].map((line) => ` ${line}`).join('\n');
  const text = `${document
    .toString({ lineWidth: 0 })
    .replace(/^\{\}\n/m, '')
    .replace(/\n+$/, '')}\n`;
  readDeployFile(Buffer.from(text));
  return text;
}

/** A comment behind a value, or above the key of a list, which would have it behind its end. */
function explain(document: Document, path: readonly string[], comment: string): void {
  const node = document.getIn(path, true);
  if (isScalar(node)) node.comment = comment;
  if (!isCollection(node)) return;
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => String(key) === path.at(-1))
    : undefined;
  if (!pair) return;
  const key = document.createNode(path.at(-1));
  key.commentBefore = comment;
  pair.key = key;
}
