/**
 * Learns the dress of a log from its lines and takes it off: what platforms, container runtimes, CI
 * systems and log libraries put around the text of a program.
 */
import { type Severity, severityNamed } from '../line/severity.ts';
import { type Framed, Frames } from './frames.ts';
import { Headers } from './headers.ts';
import { openRecord } from './records.ts';

/** A line as the program printed it. */
export interface Undressed {
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

type UndressedLine = Omit<Undressed, 'level'> & {
  readonly level: string;
  readonly partial: boolean;
  readonly framed: boolean;
};

/** Lines that are looked at before the first of them is undressed. */
const WINDOW = 64;
/** Dresses over each other. */
const DEPTH = 3;

/** Levels that a relay knows that guesses them. */
const GUESSED = 2;

/** Takes the lines of one log in their order, and gives them undressed in the same order. */
export class Undresser {
  readonly #give: (line: Undressed) => void;
  readonly #dresses = Array.from({ length: DEPTH }, () => ({
    headers: new Headers(),
    frames: new Frames(),
  }));
  /** Whether all levels follow from the words, as those do that relays guess. */
  #guessed = true;
  readonly #names = new Set<string>();
  readonly #levels = new Set<Severity>();
  #window: UndressedLine[] = [];
  #suffix = '';
  #held: UndressedLine | null = null;

  constructor(give: (line: Undressed) => void) {
    this.#give = give;
  }

  add(text: string, line: number, overwritten: boolean): void {
    this.#window.push({
      text,
      body: text,
      line,
      overwritten,
      speaker: '',
      job: '',
      level: '',
      partial: false,
      framed: false,
    });
    if (this.#window.length === WINDOW) this.#flush();
  }

  end(): void {
    this.#flush();
    if (this.#held !== null) this.#emit({ ...this.#held, partial: false });
  }

  #flush(): void {
    const lines = this.#undress(this.#window, 0);
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

  #undress(given: readonly UndressedLine[], depth: number): UndressedLine[] {
    const { frames, headers } = this.#dresses[depth] ?? {};
    if (frames === undefined || headers === undefined) return [...given];
    const lines = headers.strip(given);
    const found = frames.strip(lines);
    const stripped = lines.map((line, n) => framedLine(line, found[n]));
    if (this.#dresses[depth + 1]?.headers.learn(stripped))
      return this.#undress(stripped, depth + 1);
    const suffix = depth === 0 ? this.#suffixOf(stripped) : '';
    const done: UndressedLine[] = [];
    // Records that stand in one row are opened together, so that the dress of their texts is seen.
    let opened: UndressedLine[] = [];
    const close = () => {
      if (opened.length > 0) done.push(...this.#undress(opened, depth + 1));
      opened = [];
    };
    for (const line of stripped) {
      const ends = line.framed && suffix !== '' && line.body.endsWith(suffix);
      const body = ends ? line.body.slice(0, -suffix.length) : line.body;
      const record = openRecord(body);
      if (record === null) {
        close();
        done.push(ends ? { ...line, body } : line);
        continue;
      }
      for (const text of record.texts)
        opened.push({
          ...line,
          body: text,
          level: record.level || line.level,
          partial: record.partial,
        });
    }
    close();
    return done;
  }

  /** What ends every line: loggers put an empty context there. */
  #suffixOf(lines: readonly UndressedLine[]): string {
    const framed = lines.filter((line) => line.framed && line.body !== '');
    const found = / ?(?:(?:\[\]|\{\}) ?){1,3}$/.exec(framed.at(-1)?.body ?? '')?.[0];
    if (found !== undefined && framed.every(({ body }) => body.endsWith(found)))
      this.#suffix = found;
    return this.#suffix;
  }

  #emit(line: UndressedLine): void {
    const held = this.#held;
    this.#held = null;
    const whole =
      held === null ? line : { ...held, body: held.body + line.body, text: held.text + line.text };
    if (line.partial && whole.body.length < 16_000) {
      this.#held = whole;
      return;
    }
    const { text, body, line: at, overwritten, speaker, job } = whole;
    const level =
      this.#levels.size > 1 && !(this.#guessed && this.#names.size <= GUESSED)
        ? severityNamed(line.level)
        : '';
    this.#give({ text, body, line: at, overwritten, speaker, job, level });
  }
}

function framedLine(line: UndressedLine, found: Framed | undefined): UndressedLine {
  if (found === undefined || (!found.framed && found.speaker === '' && found.job === ''))
    return line;
  return {
    ...line,
    body: found.text,
    framed: found.framed,
    speaker: line.speaker + (line.speaker && found.speaker && ' ') + found.speaker,
    job: line.job || found.job,
    level: found.level || line.level,
    partial: line.partial || found.partial,
  };
}
