// One bench on several versions of Node: what each printed, and one table of all ratios.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNode, versionOf } from '../test/find-node.mjs';
import { checkout, say } from './checkout.mjs';

/** The oldest and the newest with long-term support, and the one that the packages bring. */
const USUAL = '20,24,packaged';

const packaged = () =>
  JSON.parse(readFileSync(join(checkout, 'packaging/node.json'), 'utf8')).version;

/** The programs of `--nodes 20,24,packaged`, each once, by their versions. Throws if one cannot be fetched. */
export function nodesOf(list = USUAL) {
  const found = list.split(',').map((wanted) => {
    const program = findNode(wanted === 'packaged' ? packaged() : wanted);
    if (program === undefined) throw new Error(`Node ${wanted} could not be fetched`);
    return [versionOf(program), program];
  });
  say(`bench: Node ${[...new Map(found).keys()].join(', ')}`);
  return new Map(found);
}

/** The rows with a ratio of what a bench printed: `| what | time | ratio | of medians | budget | verdict |`. */
function ratiosIn(output) {
  const row = /^\| ([^|]+) \| [\d.]+ ms \| ([\d.]+) \| [\d.]+ \| ([\d.]*) \|/gm;
  return [...output.matchAll(row)].map(([, what, ratio, budget]) => ({ what, ratio, budget }));
}

/** One table: the ratio of each row that has a budget, on each Node; what misses it is bold. */
export function tableOf(outputs) {
  const versions = [...outputs.keys()];
  const all = versions.map((version) => ratiosIn(outputs.get(version)));
  const judged = (all[0] ?? []).filter(({ budget }) => budget !== '');
  const lines = judged.map(({ what, budget }) => {
    const cells = all.map((rows) => {
      const ratio = rows.find((each) => each.what === what)?.ratio ?? '';
      return Number(ratio) > Number(budget) ? `**${ratio}**` : ratio;
    });
    return `| ${[what, ...cells, budget].join(' | ')} |\n`;
  });
  const heading = ['what', ...versions.map((version) => `Node ${version}`), 'budget'];
  return `\n### Ratios on each Node\n\n| ${heading.join(' | ')} |\n|${'---|'.repeat(heading.length)}\n${lines.join('')}`;
}
