/**
 * The text of a message as Telegram receives it: parsed, cleaned, trimmed and counted. Agrees with
 * the answers of Telegram's own parser in test/vectors/telegram-parse.json.
 */
import { type Entity, finish, ParseError, sortEntities } from './telegram-entities.ts';
import { parseMarkdownV2 } from './telegram-markdown.ts';

/** The text as it arrives, or why it is refused. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly text: string;
      /** Length in UTF-16 units, in which entities are measured. */
      readonly utf16: number;
      /** Length in code points, in which the limit of 4096 is measured. */
      readonly codepoints: number;
      readonly entities: readonly Entity[];
    }
  | { readonly ok: false; readonly error_code: 400; readonly description: string };

function attempt<T>(prefix: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof ParseError ? new ParseError(`${prefix}${error.message}`) : error;
  }
}

/** Does with `text` what Telegram does; without a mode the text has no markup. */
export function parseText(text: string, mode?: 'MarkdownV2'): ParsedText {
  try {
    const parsed = attempt("Bad Request: can't parse entities: ", () =>
      mode === undefined ? { text, entities: [] } : parseMarkdownV2(text),
    );
    const sorted = { text: parsed.text, entities: sortEntities(parsed.entities) };
    const { text: final, entities } = attempt('Bad Request: ', () => finish(sorted));
    const codepoints = [...final].length;
    return { ok: true, text: final, utf16: final.length, codepoints, entities };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return { ok: false, error_code: 400, description: error.message };
  }
}
