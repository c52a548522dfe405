/** Which changes of a column's type leave its values as they are. */

/** `wider`: nothing that the old version writes or reads changes. `perhaps`: that depends on its driver. */
export type TypeChange = 'wider' | 'perhaps' | 'other';

const INTEGERS = ['tinyint', 'smallint', 'mediumint', 'int', 'integer', 'bigint'];
const TEXTS = ['tinytext', 'text', 'mediumtext', 'longtext'];

/** `varchar(20) collate x` in its parts. */
function partsOf(type: string) {
  const [shape = '', collation = ''] = type.toLowerCase().split(/(?: character set \S+)? collate /);
  const [, name = '', numbers = '', rest = ''] =
    /^([^(]+)(?:\(([\s\S]*)\)([^()]*))?$/.exec(shape) ?? [];
  const word = name.replace('character varying', 'varchar');
  return {
    word,
    numbers: numbers.split(',').map((each) => each.trim()),
    rest: rest.trim(),
    collation,
  };
}

/** Judges a change of type, in the words of any of the databases. */
export function typeChange(before: string, after: string): TypeChange {
  const [old, now] = [partsOf(before), partsOf(after)];
  if (old.rest !== now.rest) return 'other';
  // The order and equality of texts may change.
  const same = old.collation === now.collation ? 'wider' : 'perhaps';
  const [wasAt, isAt] = [INTEGERS.indexOf(old.word), INTEGERS.indexOf(now.word)];
  if (wasAt >= 0 && isAt >= 0) return isAt >= wasAt ? 'perhaps' : 'other';
  if (old.word === 'varchar' && now.word === 'text') return same;
  const [text, longer] = [TEXTS.indexOf(old.word), TEXTS.indexOf(now.word)];
  if (text >= 0 && longer >= 0) return longer >= text ? same : 'other';
  if (old.word !== now.word) return 'other';
  if (old.word === 'enum' || old.word === 'set')
    // At the end the numbers of the others stay; the old version may meet one that it does not know.
    return old.numbers.every((each, at) => now.numbers[at] === each) ? 'perhaps' : 'other';
  const [length = '', scale = ''] = old.numbers;
  const [more = '', sameScale = ''] = now.numbers;
  if (old.word === 'varchar') return more === '' || Number(more) >= Number(length) ? same : 'other';
  if (/^(numeric|decimal)$/.test(old.word))
    return length !== '' && scale === sameScale && Number(more) >= Number(length)
      ? 'wider'
      : 'other';
  return before.replace(/ collate .*/, '') === after.replace(/ collate .*/, '') ? same : 'other';
}
