/**
 * Reads YAML safely, and config.yml: the layout of today and the earlier one. `.deploy.yml` is read
 * by deploy-file.ts through `readYaml`.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { readIfThere } from './files.ts';
import type { Paths } from './paths.ts';
import { type FileName, problem, type Tree } from './schema.ts';

/** Larger than any hand-written file; the parser's time grows faster than its input. */
export const CONFIG_MAX = 65_536;
const MAX_LINES = 2_000;
const MAX_BRACKETS = 32;
const MAX_INDICATORS = 16;
const MAX_INDENT = 200;

/**
 * Refuses text that makes the parser hang (a kilobyte of nested `? `) or abort the process (deep
 * brackets). Counts are over-cautious: brackets inside quotes count as well.
 */
function prescan(text: string, file: FileName): void {
  const lines = text.split('\n');
  if (Buffer.byteLength(text) > CONFIG_MAX || lines.length > MAX_LINES) {
    throw problem(file, 1, '', `is larger than ${CONFIG_MAX} bytes or ${MAX_LINES} lines`);
  }
  let depth = 0;
  lines.forEach((line, index) => {
    const indicators = /^[\s?:-]*/.exec(line)?.[0] ?? '';
    for (const character of line) {
      if (character === '[' || character === '{') depth += 1;
      else if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
      if (depth > MAX_BRACKETS)
        throw problem(file, index + 1, '', 'has brackets nested too deeply');
    }
    if (indicators.replace(/\s/g, '').length > MAX_INDICATORS || indicators.length > MAX_INDENT) {
      throw problem(file, index + 1, '', 'is nested too deeply');
    }
    if (/[\x00-\x08\x0b\x0c\x0e-\x1f]/.test(line)) {
      throw problem(file, index + 1, '', 'has a control character');
    }
  });
}

/** Parses YAML 1.2 (core schema, no aliases) into a tree with lines. Throws the file's Failure. */
export function readYaml(bytes: Uint8Array, file: FileName): Tree {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw problem(file, 1, '', 'is not UTF-8 text');
  }
  prescan(text, file);
  const counter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    schema: 'core',
    version: '1.2',
    intAsBigInt: false,
    strict: true,
    // Its own check takes seconds for the keys that fit into CONFIG_MAX; see `treeOf`.
    uniqueKeys: false,
    merge: false,
    stringKeys: true,
    // 'silent' would also drop a second document without a word.
    logLevel: 'error',
  });
  const lineAt = (offset: number) => counter.linePos(offset).line;
  const [error] = document.errors;
  if (error) {
    const what = WORDS_OF[error.code] ?? 'is not valid YAML';
    throw problem(file, lineAt(error.pos[0]), '', what);
  }
  return treeOf(document.contents, lineAt, file, 1);
}

/** The parser's own messages quote the file, which may hold a secret. */
const WORDS_OF: Readonly<Record<string, string>> = {
  BAD_INDENT: 'wrong indentation, or a bracket that is not closed',
  MISSING_CHAR: 'a closing quote, bracket or separator is missing',
  MULTIPLE_DOCS: 'holds more than one document',
  NON_STRING_KEY: 'a key is not a plain text',
  TAB_AS_INDENT: 'a tab is used for indentation: use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'wrong nesting: a value cannot begin here',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines: is a colon or a quote missing?',
  UNEXPECTED_TOKEN: 'something stands where nothing is expected',
};

function treeOf(
  node: unknown,
  lineAt: (offset: number) => number,
  file: FileName,
  near: number,
): Tree {
  const line = lineOf(node, lineAt) ?? near;
  if (isAlias(node)) throw problem(file, line, '', 'uses an alias (*name): write the value out');
  if (isMap(node)) {
    const seen = new Set<string>();
    const entries = node.items.map((pair) => {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      const keyLine = lineOf(pair.key, lineAt) ?? line;
      if (seen.has(key)) throw problem(file, keyLine, '', 'the same key stands twice');
      seen.add(key);
      return { key, line: keyLine, value: treeOf(pair.value, lineAt, file, keyLine) };
    });
    return { kind: 'map', line, entries };
  }
  if (isSeq(node)) {
    return {
      kind: 'list',
      line,
      items: node.items.map((item) => treeOf(item, lineAt, file, line)),
    };
  }
  const value: unknown = isScalar(node) ? node.value : null;
  const source = isScalar(node) && typeof node.source === 'string' ? node.source : String(value);
  const simple =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return { kind: 'scalar', line, value: simple ? value : null, source };
}

function lineOf(node: unknown, lineAt: (offset: number) => number): number | undefined {
  const range = (node as { range?: [number, number, number] } | null)?.range;
  return range ? lineAt(range[0]) : undefined;
}

/** config.yml as it stands, not yet checked beyond its syntax. */
export interface Config {
  readonly file: FileName;
  readonly tree: Tree | undefined;
}

/** Reads config.yml; a missing file is an empty one. Throws `config_invalid` or `file_unreadable`. */
export function readConfig(paths: Paths): Config {
  const file: FileName = { name: paths.config, code: 'config_invalid' };
  const bytes = readIfThere(paths.config, CONFIG_MAX);
  return { file, tree: bytes && readYaml(bytes, file) };
}

/** The credentials of the channels; the earlier layout has them at the top level. */
export const CREDENTIALS = ['telegram_bot_token', 'telegram_chat_id', 'discord_webhook'] as const;

/** A key of config.yml, from the top, e.g. `['notify', 'channel']`; without a value it is removed. */
export interface ConfigChange {
  readonly path: readonly string[];
  readonly value: string | number | boolean | undefined;
}

/** The text of a file after some changes; comments, order and unknown keys stay. */
export function editedYaml(text: string, changes: readonly ConfigChange[], file: FileName): string {
  // Refuses what the parser must not see, and aliases.
  readYaml(Buffer.from(text), file);
  // Big integers keep the digits of ids that nobody changes.
  const options = { intAsBigInt: true, uniqueKeys: false, stringKeys: true } as const;
  const document: Document = parseDocument(text, options);
  const top = document.contents;
  if (top !== null && !isMap(top) && !(isScalar(top) && top.value === null)) {
    throw problem(file, 1, '', 'must be a section, not a single value or a list');
  }
  const style = {
    lineWidth: 0,
    indent: indentOf(text),
    flowCollectionPadding: /[[{] /.test(text),
  };
  const before = isMap(top) ? document.toString(style) : undefined;
  if (!isMap(top)) document.contents = document.createNode({});
  for (const { path, value } of changes.flatMap((change) => placed(document, change))) {
    if (value === undefined) {
      if (document.hasIn(path)) document.deleteIn(path);
      continue;
    }
    for (let depth = 1; depth < path.length; depth += 1) {
      const above = path.slice(0, depth);
      const node = document.getIn(above, true);
      if (node === undefined || (isScalar(node) && node.value === null)) {
        document.setIn(above, document.createNode({}));
      } else if (!isMap(node)) {
        throw problem(file, 1, above.join('.'), 'must be a section');
      }
    }
    document.setIn(path, value);
  }
  const after = document.toString(style);
  // The file's own spacing stays as it is when nothing else changes.
  return after === before ? text : after;
}

/** Where a change takes effect. */
function placed(document: Document, change: ConfigChange): ConfigChange[] {
  const { path, value } = change;
  const [section, key = ''] = path;
  if (section !== 'notify' || path.length !== 2 || !CREDENTIALS.some((name) => name === key)) {
    return [change];
  }
  const top = { path: [key], value };
  if (value === undefined) return [change, top];
  if (document.hasIn(path)) return [change];
  const earlier = CREDENTIALS.some((name) => document.hasIn([name]));
  const today = CREDENTIALS.some((name) => document.hasIn(['notify', name]));
  return earlier && !today ? [top] : [change];
}

/** The indentation that the file has; 2 when it has none. */
function indentOf(text: string): number {
  const lines = text.split('\n').filter((line) => /^ *[^\s#-]/.test(line));
  const inner = lines.find((line, index) => index > 0 && /^ {1,8}[^ ]/.test(line));
  return inner === undefined ? 2 : inner.search(/[^ ]/);
}
