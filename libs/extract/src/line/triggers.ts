/** The gate before the rules: most lines of a log have no trigger word and cost one scan. */
import type { Rule } from '../rules/rule.ts';

/** Matches every text that holds a trigger word of one of the rules, whatever its case. */
export function triggersOf(rules: readonly Pick<Rule, 'triggers'>[]): RegExp {
  const words = [...new Set(rules.flatMap(({ triggers }) => triggers.split('|')))];
  const needed = words.filter((word) => !words.some((o) => o !== word && word.includes(o)));
  return new RegExp(needed.sort().map(literal).join('|'), 'i');
}

/** As in a regular expression, but `#` stands for a digit and `^`, in front, for the start. */
function literal(word: string): string {
  return word.replace(/(?!^\^)[^\p{L}\p{N} #]/gu, '\\$&').replaceAll('#', '\\d');
}
