/** What the short and the long tests of corpus share. */
import { extractError } from '@runner/extract/extract';
import { judge, readSet } from './error-score.ts';

export const corpus = readSet('error-corpus');

export const results = corpus.map((truth) => {
  const extraction = extractError(truth.log);
  return { truth, extraction, ...judge(truth, extraction.text) };
});
