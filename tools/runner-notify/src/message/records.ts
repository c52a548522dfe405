/** The records on standard input, line by line as they arrive. */
import { hashOf, headText, linkOf } from '@runner/common/audit/chain';
import {
  EVENT_TYPES,
  type EventType,
  isDeployId,
  isStateEvent,
  RECORDED_TYPES,
} from '@runner/common/audit/events';
import {
  disagreementsIn,
  kindOf,
  type LogRecord,
  projectOf,
  readRecord,
} from '@runner/common/audit/record';
import { LineSplitter, type SplitLine } from '@runner/common/files/lines-forward';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { InputStream } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { Joiner } from './joined.ts';

/** Longest line, in bytes: far above what `runner-audit emit` writes (64 KiB of error, escaped). */
const LINE_MAX = 4_194_304;

/** Bytes as they arrive. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Reads an input to its end without blocking other work; a closed one is empty. */
export async function* chunksOf({ fd, isTTY }: InputStream): AsyncGenerator<Uint8Array> {
  const { createReadStream, fstatSync } = process.getBuiltinModule('node:fs');
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO() || stat.isSocket()) {
      // A pipe signals that it has data: no thread is started to wait for it.
      const { Socket } = process.getBuiltinModule('node:net');
      yield* new Socket({ fd, readable: true, writable: false });
    } else if (isTTY) {
      const { ReadStream } = process.getBuiltinModule('node:tty');
      yield* new ReadStream(fd);
    } else yield* createReadStream('', { fd, autoClose: false });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EISDIR') throw new Failure('file_unreadable', 'standard input is a directory');
    // ECONNRESET: the writer was killed.
    if (code !== 'EBADF' && code !== 'ECONNRESET') throw error;
  }
}

/** Kinds of messages: those of events, and the digest, which is in no log. */
export type MessageKind = EventType | 'Digest';

/** Whether a message is about a deploy, and so has a deploy_id. */
export function isOfDeploy(kind: MessageKind): boolean {
  return kind !== 'Digest' && !isStateEvent(kind);
}

/** A record of a kind that is announced. */
export interface Announceable {
  readonly kind: MessageKind;
  readonly project: string;
  readonly fields: LogRecord;
}

/** A line of the input, numbered from 1: a record, or what is wrong with it. */
export type InputLine =
  | { readonly number: number; readonly record: Announceable }
  | { readonly number: number; readonly problem: string };

export type RecordLine = Extract<InputLine, { readonly record: Announceable }>;

/**
 * Reads records until the input ends; empty lines, records of other kinds, and all but the last of an
 * event's instances are passed over. What an event lacks at the end stays in `kept`, or it is announced.
 */
export async function* linesOf(
  chunks: Chunks,
  kept?: Joiner<RecordLine>,
): AsyncGenerator<InputLine> {
  let number = 0;
  const joiner = kept ?? new Joiner<RecordLine>();
  for await (const bytes of rawLines(chunks)) {
    number += 1;
    if (bytes === undefined) {
      yield { number, problem: `it is longer than ${LINE_MAX} bytes` };
      continue;
    }
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    if (text.trim() === '') continue;
    const found = announceable(text);
    if (typeof found === 'string') {
      yield { number, problem: found };
      continue;
    }
    const line = found && joiner.take({ number, record: found });
    if (line) yield line;
  }
  if (!kept) yield* joiner.rest();
}

function announceable(text: string): Announceable | string | undefined {
  const fields = readRecord(text);
  if (fields) return announceableOf(placed(fields, text));
  const isSpread = text.trim() === '{';
  return `it is not a JSON object${isSpread ? ': put one object on a line: jq -c' : ''}`;
}

/** The field of a record with its place in the log, `#57·` and 32 digits; in no log itself. */
export const PLACE = 'place';

/** The hash is over the line in the server's log: later the record loses fields and secrets. */
function placed(fields: LogRecord, line: string): LogRecord {
  const link = linkOf(fields);
  if (!link) return fields;
  const logged = line.replace(/,"server":"[a-z0-9-]+"\}$/, '}');
  return { ...fields, [PLACE]: `#${headText({ seq: link.seq, hash: hashOf(logged) }, '·')}` };
}

/** How long secrets that were looked up are used: they may change while a stream runs. In ms. */
const SECRETS_AGE = 1_000;

/** Replaces the secrets of the server in records. */
export function withoutSecrets({
  io,
  paths,
}: Server): (record: Announceable) => Promise<Announceable> {
  let cleaner: RecordCleaner | undefined;
  let made = 0;
  return async (record) => {
    if (!cleaner || io.elapsed() - made > SECRETS_AGE) {
      cleaner = new RecordCleaner({ paths, env: io.env });
      made = io.elapsed();
    }
    return { ...record, fields: await cleaner.clean(record.fields) };
  };
}

/** The records of an input without secrets; each line that is not one is noted, and `onProblem` called. */
export async function* recordsIn(
  context: Server & { note(text: string): void },
  chunks: Chunks,
  onProblem: () => void,
): AsyncGenerator<Announceable> {
  const clean = withoutSecrets(context);
  for await (const line of linesOf(chunks)) {
    if ('record' in line) yield await clean(line.record);
    else {
      context.note(`line ${line.number}: ${line.problem}`);
      onProblem();
    }
  }
}

/** A record that is announced; undefined for another kind; else what is wrong with it. */
export function announceableOf(fields: LogRecord): Announceable | string | undefined {
  const kind = kindOf(fields);
  if (typeof kind !== 'string' || kind === '') return 'the record has no event_type';
  if (kind !== 'Digest' && !EVENT_TYPES.includes(kind as EventType))
    return RECORDED_TYPES.some((each) => each === kind)
      ? undefined
      : `there is no event '${kind.slice(0, 40)}'`;
  const project = projectOf(fields);
  if (typeof project !== 'string' || project.trim() === '') return 'the record has no project';
  const [disagreement] = disagreementsIn(fields);
  if (disagreement !== undefined) return disagreement;
  const id = fields.deploy_id ?? undefined;
  if (id !== undefined && !isDeployId(id)) return 'the deploy_id does not have 8 letters or digits';
  return { kind: kind as MessageKind, project, fields };
}

/** Lines as bytes, without their newline; undefined for one that is too long. */
async function* rawLines(chunks: Chunks): AsyncGenerator<SplitLine> {
  const splitter = new LineSplitter(LINE_MAX);
  for await (const { buffer, byteOffset, length } of chunks)
    yield* splitter.take(Buffer.from(buffer, byteOffset, length));
  yield* splitter.rest();
}
