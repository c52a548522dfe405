/** The changes of a deploy, from its record: commit subjects and authors, and a comparison page. */
import { type LogRecord, textOf } from '@runner/common/audit/record';
import { isObject } from '@runner/common/text/json';
import { cutCodePoints } from '@runner/common/text/plain';

const SUBJECTS_MAX = 5;
const AUTHORS_MAX = 3;
const HOSTS_MAX = 10;
/** Code points of a subject or a name: the row stays within two lines. */
const TEXT_MAX = 60;
const URL_MAX = 500;

/** undefined when the record has nothing of it. `clean` makes a text one plain line without secrets. */
export function changesIn(fields: LogRecord, clean: (text: string) => string) {
  const given = isObject(fields.changes) ? fields.changes : {};
  const texts = (value: unknown, single: string) => {
    const all = Array.isArray(value) ? value : [textOf(fields, single)];
    return all.flatMap((each) => {
      const text = typeof each === 'string' ? cutCodePoints(clean(each), TEXT_MAX) : '';
      return text === '' ? [] : [text];
    });
  };
  const subjects = texts(given.subjects, 'subject').slice(0, SUBJECTS_MAX);
  const authors = texts(given.authors, 'author').slice(0, AUTHORS_MAX);
  /** undefined: unknown, or there was no version before. */
  const count = Number.isSafeInteger(given.count) ? (given.count as number) : undefined;
  const url = addressIn(given.compare);
  /** That its commands may reach, and could not before. */
  const hosts = texts(given.network_added ?? [], '').slice(0, HOSTS_MAX);
  /** Packages that now run a script when they are installed. */
  const scripts = texts(given.new_install_scripts ?? [], '').slice(0, HOSTS_MAX);
  const isEmpty = [subjects, authors, hosts, scripts].every(({ length }) => length === 0) && !url;
  return isEmpty ? undefined : { count, subjects, authors, url, hosts, scripts };
}

/** https, at the code host. */
function addressIn(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > URL_MAX || !URL.canParse(value)) return undefined;
  const { protocol, username, password, href } = new URL(value);
  return protocol === 'https:' && username === '' && password === '' ? href : undefined;
}
