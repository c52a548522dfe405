/** The end of a deploy's log, as it grows. */
import { fstatSync } from 'node:fs';
import { openLog } from '@runner/common/audit/files';
import { readRange } from '@runner/common/files/read';
import { closing } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Redact, SecretSources } from '@runner/common/redaction/known-secrets';
import { redactorForAny } from '@runner/common/redaction/redact';
import { withoutPictures } from '@runner/common/text/pictures';
import { cleanText } from '@runner/common/text/plain';

/** Bytes that are read from the end. */
const TAIL = 65_536;

interface ReadTail {
  readonly of: string;
  readonly redact: Redact;
  readonly lines: readonly string[];
}

/** Reads logs that have changed since they were read last; one of each app is kept. */
export class LogTails {
  readonly #place: SecretSources;
  readonly #kept = new Map<string, ReadTail>();

  constructor(place: SecretSources) {
    this.#place = place;
  }

  /** The last lines, redacted and without escapes; none without a log; of one that cannot be read, why. */
  async linesOf(app: string, deployId: string, count: number): Promise<readonly string[]> {
    // It comes from a file: it must not lead out of the folder.
    if (!/^[\w-]{1,64}$/.test(deployId)) return [];
    try {
      return await this.#linesOf(app, deployId, count);
    } catch (error) {
      if (error instanceof Failure) return [error.message];
      throw error;
    }
  }

  async #linesOf(app: string, deployId: string, count: number): Promise<readonly string[]> {
    const fd = openLog(this.#place.paths.deployLog(app, deployId));
    if (fd === undefined) return [];
    using _file = closing(fd);
    const { size, mtimeMs } = fstatSync(fd);
    const kept = this.#kept.get(app);
    const of = `${deployId} ${count} ${size} ${mtimeMs}`;
    if (kept?.of === of) return kept.lines;
    const isSame = kept?.of.startsWith(`${deployId} `);
    const redact = isSame ? kept?.redact : undefined;
    const known = redact ?? (await redactorForAny(this.#place, app));
    const start = Math.max(0, size - TAIL);
    const text = readRange(fd, start, size - start).toString('utf8');
    const whole = start === 0 ? text : text.slice(text.indexOf('\n') + 1);
    const all = known(cleanText(withoutPictures(whole))).split('\n');
    if (all.at(-1) === '') all.pop();
    const lines = all.slice(-count);
    this.#kept.set(app, { of, redact: known, lines });
    return lines;
  }
}
