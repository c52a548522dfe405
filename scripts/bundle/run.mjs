// Bundles one TypeScript program of the checkout and runs it; the executables must have been built.
//
//   node scripts/bundle/run.mjs scripts/demo/main.ts [argument …]
import { stop } from 'esbuild';
import { say } from '../tasks/checkout.mjs';
import { bundlePrograms } from './programs.mjs';

const [source, ...args] = process.argv.slice(2);
const [{ file, problem }] = await bundlePrograms([source]);
await stop();
if (problem === undefined) {
  process.argv = [process.execPath, file, ...args];
  process.setSourceMapsEnabled(true);
  await import(file);
} else {
  say(problem);
  process.exitCode = 1;
}
