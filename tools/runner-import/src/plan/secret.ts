/** Recognizes values that belong into the secrets of an app, and never into a file or an answer. */
import { redactor } from '@runner/common/secrets/redactor';

const NAMED =
  /(?:KEYS?|KEY_ID|KEY_BASE|SECRETS?|TOKENS?|PASS(?:WORD|WD|PHRASE)?|PASSWORDS?|PWD|CREDENTIALS?|DSN|SALT|AUTH|PRIVATE)$|SECRET|PASSW|TOKEN|PRIVATE_KEY|API_?KEY|WEBHOOK/i;
/** Too long and too mixed for a name, or hexadecimal. */
const RANDOM =
  /^(?:(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/_=-]{20,}|(?=.*\d)[0-9a-f]{32,}|(?=.*\d)[0-9A-F]{32,})$/;
/** `NAME=value` and `--name value` of a command; not a variable, nor a path. */
const GIVEN = /(?:^|[\s"'])(--?)?([A-Za-z_][\w-]*)(?=(=|\s+)["']?(?![$./-])([^\s"']+))/g;
/** Programs whose option for the password is a letter. */
const LETTERS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/\b(?:mysql|mariadb)/, /\s-p(?!["']?(?:\$|\s|$))/],
  [/\bsshpass\b/, /\s-p\s*(?!["']?\$)\S/],
  [/\bredis-cli\b/, /\s-a\s*(?!["']?\$)\S/],
  [/\b(?:curl|wget)\b/, /\s(?:-u|--user)[\s=]*["']?[^\s:"'$]+:(?!["']?\$)[^\s"']/],
];
/** `-pSECRET` of any program: mixed as no option is. */
const LETTER = /\s["']?-p(?!rint0)(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[\w!@#%^&*+-]{6,}/;

/** Whether a text holds something with the shape of a secret, or gives one to a command. */
export function hidesSecret(text: string): boolean {
  if (redactor()(text) !== text || LETTER.test(` ${text}`)) return true;
  if (LETTERS.some(([program, option]) => program.test(text) && option.test(text))) return true;
  return [...text.matchAll(GIVEN)].some(
    ([, dashes, name = '', sign, value = '']) =>
      (sign === '=' || dashes !== undefined) &&
      NAMED.test(name) &&
      // `sort --key 2`
      (value.length >= 4 || !/^keys?$/i.test(name)),
  );
}

/** Whether a variable is a secret, by its name or the shape of its value. */
export function isSecret(name: string, value: string): boolean {
  return NAMED.test(name) || RANDOM.test(value) || hidesSecret(value);
}

/** A text of the source, such as a key, without anything that has the shape of a secret. */
export function withoutSecrets(text: string): string {
  return redactor()(text);
}
