/**
 * Takes off what platforms, container runtimes, CI systems and log libraries put around the text of a program:
 * prefixes, records in JSON or logfmt, and headers on a line of their own.
 */
import { type Severity, severityNamed } from '../line/severity.ts';
import { Prefixes } from './prefixes.ts';
import { openRecord } from './records.ts';

/** A line as the program printed it. */
export interface ProgramLine {
  /** The line as it stands in the log, without escapes. */
  readonly text: string;
  readonly body: string;
  /** The number of its line in the log. */
  readonly line: number;
  readonly overwritten: boolean;
  /** Who speaks; '' without a name. */
  readonly speaker: string;
  /** The job and its step, in a log of several; else ''. */
  readonly job: string;
  /** The level at which it was logged, in a log of several levels. */
  readonly level: Severity;
}

type Line = Omit<ProgramLine, 'level'> & {
  readonly level: string;
  readonly partial: boolean;
  readonly cut: boolean;
};

/** Lines that are looked at before the first of them is given on. */
const WINDOW = 64;
/** Prefixes and records inside each other. */
const DEPTH = 3;
/** Levels of a relay that guesses them from the text. */
const GUESSED = 2;
/** .NET's console logger: the level and the category, above its indented text. */
const HEADER = /^(trce|dbug|info|warn|fail|crit): [\w.]{1,200}\[\d{1,9}\]$/;
const BELOW_HEADER = /^ {6}/;
/** What ends every line of loggers that print an empty context. */
const CONTEXT = / ?(?:(?:\[\]|\{\}) ?){1,3}$/;

/** Takes the lines of one log in their order, and gives them without prefixes in the same order. */
export class PrefixRemover {
  readonly #give: (line: ProgramLine) => void;
  readonly #prefixes = Array.from({ length: DEPTH }, () => new Prefixes());
  /** The level of the last header. */
  #header: string | undefined;
  /** Whether all levels follow from the words, as those do that relays guess. */
  #guessed = true;
  readonly #names = new Set<string>();
  readonly #levels = new Set<Severity>();
  #window: Line[] = [];
  #held: Line | null = null;

  constructor(give: (line: ProgramLine) => void) {
    this.#give = give;
  }

  add(text: string, line: number, overwritten: boolean): void {
    const said = { speaker: '', job: '', level: '', partial: false, cut: false };
    this.#window.push({ text, body: text, line, overwritten, ...said });
    if (this.#window.length === WINDOW) this.#flush();
  }

  end(): void {
    this.#flush();
    if (this.#held !== null) this.#emit({ ...this.#held, partial: false });
  }

  #flush(): void {
    const lines = this.#strip(this.#window, 0);
    this.#window = [];
    for (const { level, body } of lines) {
      if (body === '') continue;
      const severity = severityNamed(level);
      this.#levels.add(severity);
      if (level !== '' && this.#names.size <= GUESSED) this.#names.add(level);
      this.#guessed &&= (severity === 'error') === /error|fail|fatal/i.test(body);
    }
    for (const line of lines) this.#emit(line);
  }

  #strip(given: readonly Line[], depth: number): Line[] {
    const prefixes = this.#prefixes[depth];
    if (prefixes === undefined) return [...given];
    const lines = given.flatMap((line) => this.#withoutHeader(line));
    const found = prefixes.strip(lines.map(({ body }) => body));
    const stripped = lines.map((line, n) => ({ ...line, ...joined(line, found[n]) }));
    const contexts = stripped.filter(({ cut, body }) => cut && body !== '');
    const context = contexts.every(({ body }) => CONTEXT.test(body));
    const opened = stripped.flatMap((line) => {
      const body = line.cut && context ? line.body.replace(CONTEXT, '') : line.body;
      const record = openRecord(body);
      if (record === null) return [{ line: { ...line, body }, inside: false }];
      const { partial } = record;
      const level = record.level || line.level;
      return record.texts.map((text) => ({
        line: { ...line, body: text, level, partial },
        inside: true,
      }));
    });
    // The texts of records may have prefixes of their own.
    const inner = this.#strip(
      opened.filter(({ inside }) => inside).map(({ line }) => line),
      depth + 1,
    );
    return opened.map(({ line, inside }) => (inside ? (inner.shift() ?? line) : line));
  }

  #withoutHeader(line: Line): Line[] {
    const header = HEADER.exec(line.body)?.[1];
    this.#header = header ?? (BELOW_HEADER.test(line.body) ? this.#header : undefined);
    if (header !== undefined) return [];
    if (this.#header === undefined) return [line];
    return [{ ...line, body: line.body.replace(BELOW_HEADER, ''), level: this.#header }];
  }

  #emit(line: Line): void {
    const held = this.#held;
    this.#held = null;
    const whole =
      held === null ? line : { ...held, body: held.body + line.body, text: held.text + line.text };
    if (line.partial && whole.body.length < 16_000) {
      this.#held = whole;
      return;
    }
    const { text, body, line: at, overwritten, speaker, job } = whole;
    const guessed = this.#guessed && this.#names.size <= GUESSED;
    const level = this.#levels.size > 1 && !guessed ? severityNamed(line.level) : '';
    this.#give({ text, body, line: at, overwritten, speaker, job, level });
  }
}

function joined(
  line: Line,
  found: ReturnType<Prefixes['strip']>[number] | undefined,
): Partial<Line> {
  if (found === undefined) return {};
  const { text, speaker, job, level, partial, cut } = found;
  return {
    body: text,
    cut: cut || line.cut,
    speaker: line.speaker + (line.speaker && speaker ? ' ' : '') + speaker,
    job: line.job || job,
    level: level || line.level,
    partial: partial || line.partial,
  };
}
