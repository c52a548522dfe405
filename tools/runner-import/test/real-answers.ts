/** What the short and the long tests of real share. */
import { importText } from '../src/answer/answer.ts';
import type { REAL } from './real.ts';

export const answerTo = (source: (typeof REAL)[number], zone = 'UTC') =>
  importText({ ...source, app: 'shop', root: '/opt/runner', zone });
