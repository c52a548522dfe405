/** Labels before a message, and what a line is worth because of its label or its surroundings. */
import { rule } from './rule.ts';

// "Error" as compilers and shells say it elsewhere; the languages that gettext catalogues cover best.
export const ERROR_WORDS =
  'error|errors|err|fatal error|fatal|critical|crit|severe|emerg|panic|alert|failure|failed|fail|fehler|schwerer fehler|schwerwiegender fehler|erreur|erreur fatale|errore|errore fatale|error fatal|erro|ошибка|помилка|エラー|致命的エラー|错误|致命错误|錯誤|오류|fout|fatale fout|fel|feil|fejl|virhe|błąd|chyba|hiba|hata|eroare|σφάλμα|lỗi';
export const WARNING_WORDS =
  'warning|warn|deprecated|deprecation|warnung|avertissement|attention|aviso|advertencia|предупреждение|警告|avviso|waarschuwing|varning|ostrzeżenie';
export const INFO_WORDS =
  'info|information|notice|debug|trace|verbose|note|hint|help|success|anmerkung|hinweis|remarque|avis|nota|log';

/** A line whose label says error but whose message no rule knows. */
export const LABELLED = rule({ name: 'labelled', class: 'error', score: 72 }, /\S/);
/** The message that an announcement waits for. */
export const ANNOUNCED = rule({ name: 'announced', class: 'error', score: 70 }, /\S/);
/** The exception that ends a Python traceback, and the message right above another stack trace. */
export const PYTHON = rule({ name: 'python', class: 'exception', score: 92, pick: 'last' }, /\S/);
export const TRACED = rule({ name: 'traced', class: 'exception', score: 76, pick: 'last' }, /\S/);
/** A line that no rule matches. */
export const UNMATCHED = rule({ name: 'unmatched', class: 'error', score: 40, weak: true }, /\S/);
