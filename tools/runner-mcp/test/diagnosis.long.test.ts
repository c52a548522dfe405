/** DIAGNOSES real failed deploys (default 4) with logs of the corpus: what an agent needs to know why. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createExtractor } from '@runner/extract/extract';
import { checkoutFolder } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from '../../../tests/deploys/world.ts';
import { dataOf, tokensOf, withAgent } from './agent.ts';

const COUNT = Number(process.env.DIAGNOSES ?? 4);
const folder = join(checkoutFolder(), 'corpus/train');

interface Sample {
  readonly name: string;
  readonly log: string;
  readonly wanted: readonly (string | readonly string[])[];
}

/** Spread evenly over the corpus, in the order of their names. */
function samples(): Sample[] {
  const all = readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .sort();
  const fitting = all.flatMap((name) => {
    const [, truth = '{}', ...rest] = readFileSync(join(folder, name), 'utf8').split(/^---\n/m);
    const log = rest.join('---\n');
    return log.length < 200_000
      ? [{ name, log, wanted: JSON.parse(truth).must_include ?? [] }]
      : [];
  });
  return Array.from(
    { length: COUNT },
    (_, at) => fitting[Math.floor((at * fitting.length) / COUNT)] as Sample,
  );
}

const holds = (text: string, { wanted }: Sample) =>
  wanted.every((each) => [each].flat().some((one) => text.includes(one)));

test('one call is a diagnosis, and as good as the extractor', async () => {
  const world = await makeWorld();
  const tokens: number[] = [];
  const counts = { explained: 0, extracted: 0 };
  try {
    await withAgent(world, async (agent) => {
      for (const sample of samples()) {
        const extractor = createExtractor({});
        extractor.push(Buffer.from(sample.log));
        const extracted = holds(extractor.end().text, sample);
        await world.push(sample.name, {
          deploy: 'build: cat failed.log; exit 1\n',
          files: { 'failed.log': sample.log },
        });
        assert.is((await world.deploy(['--no-notify'])).status, 1);
        const { text } = await agent.call('explain', { app: 'shop' });
        const explained = holds(JSON.parse(dataOf(text)).failure.cause, sample);
        if (extracted && !explained) console.error(`${sample.name}: only the extractor has it`);
        counts.explained += explained ? 1 : 0;
        counts.extracted += extracted ? 1 : 0;
        tokens.push(tokensOf(text));
      }
    });
  } finally {
    await world.close();
  }
  const median = tokens.sort((a, b) => a - b)[Math.floor(tokens.length / 2)] ?? 0;
  console.error(
    `${tokens.length} failures: 1 call, median ${median} tokens, at most ${tokens.at(-1)}; cause right ${counts.explained}, by the extractor ${counts.extracted}`,
  );
  assert.ok(median <= 2_500);
  assert.ok(counts.explained >= counts.extracted - Math.ceil(COUNT / 20));
});

test.run();
