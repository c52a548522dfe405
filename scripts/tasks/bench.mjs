import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodesOf, tableOf } from './bench-nodes.mjs';
import { checkout, run, say } from './checkout.mjs';

const PAGE = join(checkout, 'bench', 'figures.md');
/** Its tables stand in a page of their own, which it writes itself. */
const ELSEWHERE = 'extract';
/** Takes an hour: only by its name. */
const LONG = 'zero-drop';

/** What the programs printed stands between the marks of the page, each under its heading of the second level. */
function writePage(printed, isWhole) {
  const marks = /(<!-- figures -->\n)([\s\S]*)(<!-- end of figures -->)/;
  const page = readFileSync(PAGE, 'utf8');
  if (!marks.test(page)) throw new Error(`${PAGE} has no place for the figures`);
  const sectionsOf = (text) => text.trim().split(/\n+(?=## )/);
  const fresh = printed.flatMap(sectionsOf);
  const titleOf = (section) => section.split('\n', 1)[0];
  const sections = (old) =>
    sectionsOf(old).map((each) => fresh.find((one) => titleOf(one) === titleOf(each)) ?? each);
  writeFileSync(
    PAGE,
    page.replace(marks, (_all, start, old, end) => {
      const text = (isWhole ? fresh : sections(old)).join('\n\n');
      return `${start}\n${text}\n\n${end}`;
    }),
  );
}

/**
 * `npm run bench -- deploy` runs bench/deploy.ts; without a name, all of them in turn. With `--write`
 * what they print becomes the tables of bench/figures.md, or of its own section there. `--nodes` or `--nodes 20,24,packaged` runs it on each of
 * these versions of Node. Resolves the worst exit status.
 */
export async function runBenches(args) {
  const write = args.includes('--write') && args[0] !== ELSEWHERE;
  const [wanted, ...rest] = write ? args.filter((each) => each !== '--write') : args;
  const all = wanted === undefined || wanted.startsWith('-');
  const there = readdirSync(join(checkout, 'bench'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length));
  if (['-h', '--help'].includes(wanted)) {
    say(`usage: npm run bench -- [NAME [OPTIONS]] [--write]; NAME is one of ${there.join(', ')}`);
    return 0;
  }
  const names = there.filter((name) =>
    all ? name !== LONG && (!write || name !== ELSEWHERE) : name === wanted,
  );
  if (names.length === 0) {
    say(`bench: nothing is called '${wanted}' in bench/`);
    return 1;
  }
  const options = all && wanted !== undefined ? [wanted, ...rest] : rest;
  const nodes = options.indexOf('--nodes');
  if (nodes >= 0) return runOnNodes(names, options, nodes);
  const printed = [];
  let worst = 0;
  for (const name of names) {
    const program = [join(checkout, 'scripts/bundle/run.mjs'), `bench/${name}.ts`];
    if (write) say(`bench: ${name}`);
    const { status, output } = await run(process.execPath, [...program, ...options], {
      capture: write,
    });
    printed.push(output);
    worst = Math.max(worst, status);
  }
  if (write) writePage(printed, all);
  return worst;
}

/** Each bench on each version of Node, and one table of the ratios. */
async function runOnNodes(names, options, at) {
  const list = options[at + 1]?.startsWith('-') ? undefined : options[at + 1];
  const rest = options.filter(
    (_, index) => index !== at && (list === undefined || index !== at + 1),
  );
  let worst = 0;
  for (const name of names) {
    const outputs = new Map();
    for (const [version, node] of nodesOf(list)) {
      const program = [join(checkout, 'scripts/bundle/run.mjs'), `bench/${name}.ts`, ...rest];
      const { status, output } = await run(node, program, { capture: true });
      process.stdout.write(output);
      outputs.set(version, output);
      worst = Math.max(worst, status);
    }
    process.stdout.write(tableOf(outputs));
  }
  return worst;
}
