/** A log that keeps nothing: what is asked every second would fill that of the deploy. */
import { makeFolder } from '@runner/common/files/read';
import type { Redactor } from '@runner/common/secrets/redactor';
import type { DeployLog } from '../run/log.ts';
import { captured } from '../run/output.ts';

/** Characters of the end of a command's output that are returned. */
const OUTPUT_MAX = 2_048;

export function quietLog(folder: string, id: string, redact: Redactor): DeployLog {
  return {
    path: '/dev/null',
    parts: [],
    open: () => {},
    line: () => {},
    close: () => {},
    capture(_, body) {
      makeFolder(folder);
      return captured({ folder, id: `${id}.watch`, redact, most: OUTPUT_MAX }, body);
    },
  };
}
