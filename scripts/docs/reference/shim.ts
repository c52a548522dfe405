/** What the shim's own help says: it is a shell script, its text is the only definition. */

import type { HelpRow } from '@runner/common/cli/help';

export type ShimHelp = ReturnType<typeof shimHelp>;

/** Reads the here-document of the help in the shim's source. Throws when it is not as expected. */
export function shimHelp(source: string) {
  const text = /<<'HELP'\n(.*?)\nHELP\n/s.exec(source)?.[1];
  if (text === undefined) throw new Error('the shim has no help between HELP and HELP');
  const rowsOf = (title: string): HelpRow[] => {
    const rows = new RegExp(`\\n${title}:\\n((?: +\\S.*\\n?)+)`).exec(`${text}\n`)?.[1] ?? '';
    return rows
      .trimEnd()
      .split('\n')
      .map((row) => {
        const [term = '', meaning = ''] = row.trim().split(/ {2,}/);
        return [term, meaning] as const;
      });
  };
  return {
    about: text.split('\n')[0] ?? '',
    options: rowsOf('Options'),
    exits: rowsOf("Exit status, when it is not the command's"),
  };
}
