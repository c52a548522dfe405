/** Reads the object that a JavaScript file exports without running it: what is computed is said so. */
import { type AnyNode, type Expression, type Program, parse, parseExpressionAt } from 'acorn';
import { EntryList, type SourceEntry, unreadable } from '../plan/entry.ts';

const DEPTH_MAX = 40;
/** The key of what has none: a spread, a method, a computed name. */
const CODE = '<code>';

/** A parsed value; the parser's types say more than is needed here. */
type Parsed = AnyNode;

/** Every value that the file exports, and each other statement as the entry `code`. Throws `not_imported`. */
export function javascriptEntries(text: string, file: string): SourceEntry[] {
  const isJson = /\.json$/i.test(file) || /^\s*[[{]/.test(text);
  return new Reader(file).read(parsed(text, file, isJson));
}

function parsed(text: string, file: string, isJson: boolean): Program | Expression {
  const common = { ecmaVersion: 'latest', locations: true, allowHashBang: true } as const;
  const parseAs = (sourceType: 'module' | 'script') => parse(text, { ...common, sourceType });
  try {
    if (isJson) {
      const value = parseExpressionAt(text, text.search(/[[{]/), common);
      // `[Service]` of a unit begins like a list.
      parse(text.slice(0, value.end).replace(/./g, ' ') + text.slice(value.end), common);
      return value;
    }
    return /^\s*(?:export|import)\b/m.test(text) ? parseAs('module') : parseAs('script');
  } catch (error) {
    const { loc } = error as { loc?: { line?: number } };
    throw unreadable(file, isJson ? 'is not JSON' : 'is not JavaScript', loc?.line);
  }
}

class Reader {
  readonly #list: EntryList;
  readonly #file: string;
  readonly #constants = new Map<string, Parsed>();

  constructor(file: string) {
    this.#file = file;
    this.#list = new EntryList(file);
  }

  read(program: Program | Expression): SourceEntry[] {
    if (program.type !== 'Program') this.#value(program, [], lineOf(program), 0);
    else {
      for (const node of program.body) this.#learn(node);
      for (const node of program.body) this.#statement(node);
    }
    return this.#list.all;
  }

  /** Notes `const name = value`, also behind `export`. */
  #learn(node: Parsed): void {
    const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : node;
    if (declared?.type !== 'VariableDeclaration' || declared.kind !== 'const') return;
    for (const { id, init } of declared.declarations)
      if (id.type === 'Identifier' && init) this.#constants.set(id.name, init);
  }

  #statement(node: Parsed): void {
    const line = lineOf(node);
    const [value, path] = exportOf(node);
    if (value && path) this.#value(value, path, line, 0);
    // 'use strict' says nothing.
    else if (!('directive' in node)) this.#list.add(['code'], null, line, true);
  }

  #value(node: Parsed, path: readonly string[], line: number, depth: number): void {
    if (depth > DEPTH_MAX) throw unreadable(this.#file, 'is nested too deeply', line);
    const known = node.type === 'Identifier' ? this.#constants.get(node.name) : undefined;
    if (known) this.#value(known, path, line, depth + 1);
    else if (node.type === 'ObjectExpression' && node.properties.length > 0) {
      for (const property of node.properties) this.#property(property, path, depth);
    } else if (node.type === 'ArrayExpression' && node.elements.length > 0) {
      node.elements.forEach((element, index) => {
        const own = [...path, `[${index}]`];
        if (element) this.#value(element, own, lineOf(element), depth + 1);
      });
    } else {
      const value = this.#literal(node, depth);
      this.#list.add(path, value ?? null, line, value === undefined);
    }
  }

  #property(node: Parsed, path: readonly string[], depth: number): void {
    if (node.type !== 'Property' || node.computed || node.kind !== 'init') {
      this.#list.add([...path, CODE], null, lineOf(node), true);
      return;
    }
    const name = node.key.type === 'Identifier' ? node.key.name : this.#literal(node.key, depth);
    this.#value(node.value, [...path, String(name)], lineOf(node), depth + 1);
  }

  /** The value of a literal, or of literals that are joined; undefined if it is computed. */
  #literal(node: Parsed, depth: number): SourceEntry['value'] | undefined {
    if (depth > DEPTH_MAX) return undefined;
    const inner = (each: Parsed) => this.#literal(each, depth + 1);
    if (node.type === 'ObjectExpression' || node.type === 'ArrayExpression') return null;
    if (node.type === 'Literal') return literalOf(node.value);
    if (node.type === 'Identifier') {
      const known = this.#constants.get(node.name);
      if (known) return inner(known);
      return node.name === '__dirname' ? '.' : undefined;
    }
    if (node.type === 'TemplateLiteral') {
      const texts = node.quasis.map(({ value }) => value.cooked ?? '');
      const values = node.expressions.map(inner);
      if (values.includes(undefined)) return undefined;
      return texts.map((text, index) => `${text}${values[index] ?? ''}`).join('');
    }
    if (node.type === 'UnaryExpression' && node.operator === '-') {
      const value = inner(node.argument);
      return typeof value === 'number' ? -value : undefined;
    }
    if (node.type === 'BinaryExpression' && node.operator === '+') {
      const [a, b] = [inner(node.left), inner(node.right)];
      return typeof a === 'string' && typeof b === 'string' ? a + b : undefined;
    }
    return undefined;
  }
}

function literalOf(value: unknown): SourceEntry['value'] | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' ? value : undefined;
}

/** What a statement exports, and where: `exports.apps = […]`, `export default {…}`. */
function exportOf(node: Parsed): [value?: Parsed, path?: string[] | undefined] {
  if (node.type === 'ExportDefaultDeclaration') return [node.declaration, []];
  if (node.type === 'ExportNamedDeclaration') {
    const { declaration } = node;
    const [only] = declaration?.type === 'VariableDeclaration' ? declaration.declarations : [];
    return only?.id.type === 'Identifier' && only.init ? [only.init, [only.id.name]] : [];
  }
  if (node.type !== 'ExpressionStatement' || node.expression.type !== 'AssignmentExpression')
    return [];
  const { left, right } = node.expression;
  return [right, exported(left)];
}

/** `[]` of `module.exports`, `['apps']` of `exports.apps`; undefined of anything else. */
function exported(node: Parsed): string[] | undefined {
  if (node.type === 'Identifier' && node.name === 'exports') return [];
  if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier')
    return undefined;
  const { name } = node.property;
  if (node.object.type === 'Identifier' && node.object.name === 'module')
    return name === 'exports' ? [] : undefined;
  const above = exported(node.object);
  return above && [...above, name];
}

function lineOf(node: Parsed): number {
  return node.loc?.start.line ?? 1;
}
