/** Reads foreign YAML safely, into values with their lines. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { type FileName, problem, type Tree } from './schema.ts';

/** Bytes; far above any hand-written file. The parser's time grows faster than its input. */
export const YAML_MAX = 65_536;
const MAX_LINES = 2_000;
const MAX_BRACKETS = 32;
const MAX_INDICATORS = 16;
const MAX_INDENT = 200;

/**
 * Refuses text that makes the parser hang (a kilobyte of nested `? `) or abort the process (deeply
 * nested brackets). Brackets inside quotes count too.
 */
function prescan(text: string, file: FileName): void {
  const lines = text.split('\n');
  if (Buffer.byteLength(text) > YAML_MAX || lines.length > MAX_LINES) {
    throw problem(file, 1, '', `is larger than ${YAML_MAX} bytes or ${MAX_LINES} lines`);
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

/**
 * Parses YAML 1.2 (core schema) into a tree with lines. Throws the file's Failure. An alias is refused unless
 * `aliases` allows it: then it is the tree of its anchor, so a small file may stand for a huge tree.
 */
export function readYaml(
  bytes: Uint8Array,
  file: FileName,
  { aliases = false }: { readonly aliases?: boolean } = {},
): Tree {
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
    // The parser's own check is quadratic; see `treeOf`.
    uniqueKeys: false,
    merge: false,
    stringKeys: true,
    // 'silent' would also ignore a second document.
    logLevel: 'error',
  });
  const lineAt = (offset: number) => counter.linePos(offset).line;
  const [error] = document.errors;
  if (error) {
    const what = WORDS_OF[error.code] ?? 'is not valid YAML';
    throw problem(file, lineAt(error.pos[0]), '', what);
  }
  const anchors = aliases ? new Map<string, Tree>() : undefined;
  return treeOf(document.contents, { lineAt, file, anchors }, 1);
}

/** Replaces the parser's messages, which quote the file and so may show a secret. */
const WORDS_OF: Readonly<Record<string, string>> = {
  BAD_INDENT: 'wrong indentation, or a bracket that is not closed',
  MISSING_CHAR: 'a closing quote, bracket or separator is missing',
  MULTIPLE_DOCS: 'has more than one document',
  NON_STRING_KEY: 'a key is not plain text',
  TAB_AS_INDENT: 'a tab is used for indentation: use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'wrong nesting: a value cannot begin here',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines: is a colon or a quote missing?',
  UNEXPECTED_TOKEN: 'unexpected content',
};

/** What every node of a document needs to become a tree. */
interface Reading {
  readonly lineAt: (offset: number) => number;
  readonly file: FileName;
  /** The trees of the anchors so far; undefined where aliases are refused. */
  readonly anchors: Map<string, Tree> | undefined;
}

function treeOf(node: unknown, reading: Reading, near: number): Tree {
  const { file, anchors } = reading;
  const line = lineOf(node, reading) ?? near;
  if (isAlias(node)) {
    const meant = anchors?.get(node.source);
    if (meant) return meant;
    throw problem(file, line, '', 'uses an alias (*name): write the value out');
  }
  const tree = treeOfValue(node, reading, line);
  const { anchor } = (node ?? {}) as { anchor?: string };
  if (anchor !== undefined) anchors?.set(anchor, tree);
  return tree;
}

function treeOfValue(node: unknown, reading: Reading, line: number): Tree {
  if (isMap(node)) {
    const seen = new Set<string>();
    const entries = node.items.map((pair) => {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      const keyLine = lineOf(pair.key, reading) ?? line;
      if (seen.has(key)) throw problem(reading.file, keyLine, key, 'duplicate key');
      seen.add(key);
      return { key, line: keyLine, value: treeOf(pair.value, reading, keyLine) };
    });
    return { kind: 'map', line, entries };
  }
  if (isSeq(node)) {
    return { kind: 'list', line, items: node.items.map((item) => treeOf(item, reading, line)) };
  }
  const value: unknown = isScalar(node) ? node.value : null;
  const source = isScalar(node) && typeof node.source === 'string' ? node.source : String(value);
  const simple =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  // Not taken for an absent key: `build: !!binary …` is not a commit without a build.
  if (!simple && value !== null)
    throw problem(reading.file, line, '', 'uses a tag (!!binary): write the value as text');
  return { kind: 'scalar', line, value: simple ? value : null, source };
}

function lineOf(node: unknown, { lineAt }: Reading): number | undefined {
  const range = (node as { range?: [number, number, number] } | null)?.range;
  return range ? lineAt(range[0]) : undefined;
}
