/** A log that keeps nothing: what is asked every second would fill that of the deploy. */
import { closeSync } from 'node:fs';
import { makeFolder } from '@runner/common/files/read';
import type { Redactor } from '@runner/common/secrets/redactor';
import type { DeployLog } from '../run/log.ts';
import { copierOf, openOutput } from '../run/output.ts';

/** Characters of the end of a command's output that are returned. */
const OUTPUT_MAX = 2_048;

export function quietLog(folder: string, id: string, redact: Redactor): DeployLog {
  return {
    path: '/dev/null',
    parts: [],
    open: () => {},
    line: () => {},
    close: () => {},
    async capture(_, body) {
      makeFolder(folder);
      const raw = openOutput(folder, `${id}.watch`);
      let output = '';
      const copy = copierOf(raw, redact, (text) => {
        output = (output + text).slice(-OUTPUT_MAX);
      });
      try {
        const result = await body(raw);
        copy(true);
        return { result, output };
      } finally {
        closeSync(raw);
      }
    },
  };
}
