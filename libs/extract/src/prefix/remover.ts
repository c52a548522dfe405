/**
 * Takes off what platforms, container runtimes, CI systems and log libraries put around the text of a program:
 * prefixes, records in JSON or logfmt, and headers on a line of their own.
 */
import { type Severity, severityNamed } from '../line/severity.ts';
import { type Prefixed, Prefixes } from './prefixes.ts';
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

/** A line on its way: what is found is written into it. */
interface Line extends Pick<ProgramLine, 'text' | 'line' | 'overwritten'> {
  body: string;
  speaker: string;
  job: string;
  level: string;
  partial: boolean;
  cut: boolean;
}

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
    const [body, speaker, job, level, partial, cut] = [text, '', '', '', false, false];
    this.#window.push({ text, body, line, overwritten, speaker, job, level, partial, cut });
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
      const severity = level === '' ? '' : severityNamed(level);
      this.#levels.add(severity);
      if (level !== '' && this.#names.size <= GUESSED) this.#names.add(level);
      this.#guessed &&= (severity === 'error') === /error|fail|fatal/i.test(body);
    }
    for (const line of lines) this.#emit(line);
  }

  #strip(given: readonly Line[], depth: number): readonly Line[] {
    const prefixes = this.#prefixes[depth];
    if (prefixes === undefined) return given;
    const lines = given.filter((line) => this.#readHeader(line));
    for (const [n, found] of prefixes.strip(lines.map(({ body }) => body)).entries()) {
      const line = lines[n];
      if (line !== undefined && found.cut) take(line, found);
    }
    const context = lines.every(({ cut, body }) => !cut || body === '' || CONTEXT.test(body));
    const opened: Line[] = [];
    const said = new Set<Line>();
    for (const line of lines) {
      if (line.cut && context) line.body = line.body.replace(CONTEXT, '');
      const record = openRecord(line.body);
      if (record === null) {
        opened.push(line);
        continue;
      }
      const { texts, partial } = record;
      const level = record.level || line.level;
      for (const body of texts) {
        const one = { ...line, body, level, partial };
        opened.push(one);
        said.add(one);
      }
    }
    if (said.size === 0) return opened;
    // The texts of records may have prefixes of their own.
    const copies = [...said].map((line) => ({ ...line }));
    const inner = [...this.#strip(copies, depth + 1)];
    return opened.map((line) => (said.has(line) ? (inner.shift() ?? line) : line));
  }

  /** Whether the line is not a header but text, which may be below one. */
  #readHeader(line: Line): boolean {
    const header = HEADER.exec(line.body)?.[1];
    if (header !== undefined || (this.#header !== undefined && !BELOW_HEADER.test(line.body)))
      this.#header = header;
    if (header === undefined && this.#header !== undefined) {
      line.body = line.body.replace(BELOW_HEADER, '');
      line.level = this.#header;
    }
    return header === undefined;
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

function take(line: Line, { text, speaker, job, level, partial }: Prefixed): void {
  line.body = text;
  line.cut = true;
  line.speaker += (line.speaker && speaker ? ' ' : '') + speaker;
  line.job ||= job;
  line.level = level || line.level;
  line.partial ||= partial;
}
