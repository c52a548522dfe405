/** The values that Ruby literals have; undefined is a value that only running the file would show. */

/** A literal of Ruby; a symbol is its name, a hash a map. */
export type RubyValue =
  | string
  | number
  | boolean
  | null
  | RubyValue[]
  | Map<string, RubyValue | undefined>;

const DEPTH_MAX = 10;
const CLOSES: Readonly<Record<string, string>> = {
  '(': ')',
  '[': ']',
  '{': '}',
  '<': '>',
  '|': '|',
  '!': '!',
};
const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, nil: null };

/** Reads one value, or several with commas between, which are a list. */
export class LiteralReader {
  readonly #text: string;
  /** Earlier settings that are texts: `#{fetch(:application)}` is known. */
  readonly #known: ReadonlyMap<string, string>;
  #at = 0;

  constructor(text: string, known: ReadonlyMap<string, string>) {
    this.#text = text;
    this.#known = known;
  }

  /** The whole text's value. */
  whole(): RubyValue | undefined {
    const values: RubyValue[] = [];
    for (let more = true; more; more = this.#take(/,\s*/y) !== undefined) {
      const value = this.#hashWithout() ?? this.#sum(0);
      if (value === undefined) return undefined;
      values.push(value);
    }
    this.#take(/\s*/y);
    if (this.#at < this.#text.length) return undefined;
    return values.length === 1 ? values[0] : values;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text) ?? undefined;
    if (match) this.#at = pattern.lastIndex;
    return match;
  }

  /** `a: 1, b: 2` without braces. */
  #hashWithout(): RubyValue | undefined {
    return /^\w+:\s/.test(this.#text.slice(this.#at)) && this.#at === 0
      ? this.#pairs(/$/y, 0)
      : undefined;
  }

  /** A value, and lists that are added to it. */
  #sum(depth: number): RubyValue | undefined {
    if (depth > DEPTH_MAX) return undefined;
    let value = this.#value(depth);
    for (;;) {
      const call = this.#take(/\s*\.(?:push|concat)\(\s*/y);
      if (call) {
        const added = this.#items(/\s*\)/y, depth + 1);
        value = Array.isArray(value) && added ? [...value, ...added.flat()] : undefined;
      } else if (this.#take(/\s*\+\s*/y)) {
        const added = this.#value(depth);
        value = Array.isArray(value) && Array.isArray(added) ? [...value, ...added] : undefined;
      } else if (!this.#take(/\.(?:freeze|to_s|to_sym|uniq)\b/y)) return value;
    }
  }

  #value(depth: number): RubyValue | undefined {
    if (depth > DEPTH_MAX) return undefined;
    this.#take(/\s*/y);
    const simple = this.#take(
      /:?'((?:[^'\\]|\\.)*)'|:([A-Za-z_]\w*[?!]?)|(-?\d[\d_]*(?:\.\d+)?)(?![\w.])|(true|false|nil)\b/y,
    );
    if (simple) {
      const [, quoted, symbol, number, name] = simple;
      if (name !== undefined) return WORDS[name];
      return number !== undefined
        ? Number(number.replaceAll('_', ''))
        : (quoted?.replace(/\\(['\\])/g, '$1') ?? symbol);
    }
    const text = this.#take(/:?"((?:[^"\\]|\\.)*)"/y)?.[1];
    if (text !== undefined) return this.#interpolated(text);
    const open = this.#take(/%[wWiI]([([{<|!])/y)?.[1];
    if (open !== undefined) return this.#words(CLOSES[open] as string);
    if (this.#take(/\[\s*/y)) return this.#items(/\s*\]/y, depth + 1);
    if (this.#take(/\{\s*/y)) return this.#pairs(/\s*\}/y, depth + 1);
    return this.#otherwise(depth);
  }

  /** The default of a variable of the environment, or of a setting. */
  #otherwise(depth: number): RubyValue | undefined {
    if (this.#take(/ENV\[[^\]]*\]\s*\|\|\s*/y)) return this.#value(depth + 1);
    if (this.#take(/ENV\.fetch\(\s*["'][^"']*["']\s*\)\s*\{\s*/y))
      return this.#before(/\s*\}/y, depth);
    if (this.#take(/ENV\.fetch\(\s*["'][^"']*["']\s*,\s*/y)) return this.#before(/\s*\)/y, depth);
    const name = this.#take(/fetch[\s(]\s*:(\w+)\s*/y)?.[1];
    if (name === undefined) return undefined;
    if (this.#take(/,\s*/y)) return this.#before(/\s*\)/y, depth);
    this.#take(/\)/y);
    return this.#known.get(name);
  }

  #before(end: RegExp, depth: number): RubyValue | undefined {
    const value = this.#value(depth + 1);
    return this.#take(end) ? value : undefined;
  }

  #interpolated(text: string): string | undefined {
    let isKnown = true;
    const plain = text.replace(
      /#\{\s*fetch[\s(]\s*:(\w+)\s*\)?\s*\}|#\{[^}]*\}/g,
      (_, name?: string) => {
        const value = name === undefined ? undefined : this.#known.get(name);
        isKnown &&= value !== undefined;
        return value ?? '';
      },
    );
    return isKnown ? plain.replace(/\\(["\\#])/g, '$1') : undefined;
  }

  #words(close: string): string[] | undefined {
    const end = this.#text.indexOf(close, this.#at);
    if (end === -1) return undefined;
    const words = this.#text.slice(this.#at, end).split(/\s+/).filter(Boolean);
    this.#at = end + 1;
    return words;
  }

  #items(end: RegExp, depth: number): RubyValue[] | undefined {
    const items: RubyValue[] = [];
    while (!this.#take(end)) {
      const value = this.#sum(depth);
      if (value === undefined) return undefined;
      items.push(value);
      this.#take(/\s*,/y);
    }
    return items;
  }

  #pairs(end: RegExp, depth: number): RubyValue | undefined {
    const pairs = new Map<string, RubyValue | undefined>();
    while (!this.#take(end)) {
      const key = this.#take(/\s*(?:(\w+):\s*|["']([^"']*)["']\s*(?:=>|:)\s*|:(\w+)\s*=>\s*)/y);
      const value = key && this.#sum(depth);
      if (!key || value === undefined) return undefined;
      pairs.set(String(key[1] ?? key[2] ?? key[3]), value);
      this.#take(/\s*,/y);
    }
    return pairs;
  }
}
