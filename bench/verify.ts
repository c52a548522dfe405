/**
 * `npm run bench -- verify`: the hash of a release, which each deploy and `runner verify` make: seconds a GB
 * and for 10,000 files, beside `sha256sum` of the same files. The page cache has them, as after a build.
 */
import { generateKeyPairSync, randomFillSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from '@runner/common/audit/chain';
import { enveloped, pemOf } from '@runner/deploy/statement/envelope';
import { treeText } from '@runner/deploy/statement/tree';
import { temporaryFolder } from '@runner/testing/temp';
import { compare, conclude, FLOOR, ours, printTable } from './harness/measure.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

const ROUNDS = roundsWanted(5);
/** Beside `sha256sum`, which starts no Node. */
const BUDGET = 2;
const MEGABYTE = 1_000_000;

/** A folder of equally large files, a hundred in each folder below. */
function makeTree(name: string, files: number, size: number): string {
  const folder = join(temporaryFolder('bench'), name);
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < files; at += 1) {
    const below = join(folder, String(Math.floor(at / 100)));
    if (at % 100 === 0) mkdirSync(below, { recursive: true });
    randomFillSync(bytes, 0, Math.min(size, 4_096));
    writeFileSync(join(below, `${at}.js`), bytes);
  }
  return folder;
}

async function measure(name: string, folder: string): Promise<boolean> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name, digest: { sha256: hashOf(await treeText(folder)) } }],
    predicate: { buildDefinition: { buildType: 'urn:runner:release:v1' } },
  };
  const [file, key] = [`${folder}.json`, `${folder}.pub`];
  writeFileSync(file, enveloped(statement, privateKey));
  writeFileSync(key, pemOf(publicKey));
  const all = `find '${folder}' -type f -print0 | xargs -0 sha256sum`;
  const args = ['runner-verify', file, '--key', key, '--tree', folder];
  const figures = compare(
    [
      { ...FLOOR, name: 'sha256sum', file: 'sh', args: ['-c', all] },
      ours('runner verify --tree', folder, args, { strict: true, budget: BUDGET }),
    ],
    ROUNDS,
  );
  const kept = printTable(name, figures);
  const [, own] = figures;
  process.stdout.write(`\n${name}: ${((own?.quick ?? 0) / 1000).toFixed(2)} s\n`);
  return kept;
}

async function main(): Promise<void> {
  printSetting('The hash of a release', ROUNDS);
  const large = await measure('1 GB in 100 files', makeTree('large', 100, 10 * MEGABYTE));
  const small = await measure('10,000 files of 10 kB', makeTree('small', 10_000, 10_000));
  conclude([large, small]);
}

void main();
