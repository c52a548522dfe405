/** Keeps what could be a token, typed in the wrong place, out of the message that refuses it. */
import { REDACTED } from '../secrets/redacted.ts';
import type { Command } from './command.ts';

/** Options whose values are commits, which look like tokens. */
const COMMITS = new Set(['--ref', '--to', '--deploy']);
const COMMIT = /^[0-9a-f]{7,64}$/;
/** A part of a word that is as long as this and has letters and digits is no name that a person chose. */
const PART_MIN = 12;
const WORD_MIN = 20;
/** How much of a word finds it in a message, which may have cut it. */
const BEGINNING = 10;

/** The message without the words of a command line that could be tokens; `positionals` are the command's. */
export function withoutTokens(
  message: string,
  argv: readonly string[],
  positionals: Command['positionals'],
): string {
  let cleaned = message;
  // What a command compares are commits.
  const typed = positionals?.from ? argv.filter((word) => !COMMIT.test(word)) : argv;
  for (const word of typed.flatMap((each, index) => wordsIn(each, typed[index - 1]))) {
    // Taken for a path, an address has one slash.
    const begins = word
      .slice(0, BEGINNING)
      .replace(/[^\w/]/g, '\\$&')
      .replace(/\/+/g, '/+');
    cleaned = cleaned.replace(new RegExp(`${begins}[\\w.~+/=@:%?&#-]*`, 'g'), (found) =>
      !word.includes('@') && isServer(found) ? found : REDACTED,
    );
  }
  return cleaned;
}

function wordsIn(typed: string, before: string | undefined): string[] {
  const value = /^--?[a-z-]+=(.*)$/s.exec(typed)?.[1];
  const isCommit =
    COMMIT.test(value ?? typed) &&
    COMMITS.has((value === undefined ? before : typed.split('=')[0]) ?? '');
  return isCommit ? [] : [value ?? typed].filter(couldBeToken);
}

function couldBeToken(word: string): boolean {
  // A scheme alone hides nothing, and would match the example in a message.
  if (/:\/\/./s.test(word)) return !isRepository(word);
  // A path, or the name of a repository.
  if (word.includes('/') || /^[.~]/.test(word)) return false;
  const isMixed = (text: string) => /[a-z]/i.test(text) && /\d/.test(text);
  const parts = word.split(/[^A-Za-z0-9]+/);
  return (
    parts.some((part) => part.length >= PART_MIN && isMixed(part)) ||
    parts.some((part) => part.length > WORD_MIN) ||
    (word.length >= WORD_MIN && isMixed(word) && /[A-Z]/.test(word) && /[a-z]/.test(word))
  );
}

/** The address of a server alone, as a message that names it for a person to copy. */
function isServer(address: string): boolean {
  const host = /^https?:\/\/([\w.-]+)(?::\d{1,5})?$/.exec(address)?.[1];
  return host !== undefined && !couldBeToken(host);
}

/** The address of a repository, or a path: without a login, and with a path of which no part could be a token. */
function isRepository(address: string): boolean {
  const path = /^(?:https?:\/\/[\w.-]+(?::\d{1,5})?|file:\/\/)((?:\/[\w.-]+){2,21})$/.exec(
    address,
  )?.[1];
  return path !== undefined && !path.split('/').some(couldBeToken);
}
