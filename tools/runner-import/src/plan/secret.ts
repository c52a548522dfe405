/** Recognizes values that belong into the secrets of an app, and never into a file or an answer. */
import { redactor } from '@runner/common/secrets/redactor';

const NAMED =
  /(?:KEYS?|KEY_ID|KEY_BASE|SECRETS?|TOKENS?|PASS(?:WORD|WD|PHRASE)?|PASSWORDS?|PWD|CREDENTIALS?|DSN|SALT|AUTH|PRIVATE)$|SECRET|PASSW|TOKEN|PRIVATE_KEY|API_?KEY|WEBHOOK/i;
/** Letters and digits without a separator that words have, too long for a name. */
const RANDOM = /^(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9+/_=-]{24,}$/;

const redact = redactor();

/** Whether a text holds something with the shape of a secret. */
export function hidesSecret(text: string): boolean {
  return redact(text) !== text;
}

/** Whether a variable is a secret, by its name or the shape of its value. */
export function isSecret(name: string, value: string): boolean {
  return (
    NAMED.test(name) || RANDOM.test(value) || hidesSecret(value) || hidesSecret(`${name}=${value}`)
  );
}

/** A text of the source, such as a key, without anything that has the shape of a secret. */
export function withoutSecrets(text: string): string {
  return redact(text);
}
