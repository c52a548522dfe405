/** What the short and the long tests of extract share. */
import { run } from '@runner/testing/run';

export const extract = (stdin: string | Uint8Array, args: readonly string[] = [], root?: string) =>
  run('runner-debug', ['extract', ...args], { stdin, ...(root !== undefined && { root }) });

export const FAILING = 'ERROR: deprecated call in chunk 7\nprice list has no currency\n';
