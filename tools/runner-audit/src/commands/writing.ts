/** What emit loads for a stream, or for an event that may hold a secret: bundled into dist/lib/writing.cjs. */
export { RecordCleaner } from '@runner/common/redaction/redact';
export { appendStream } from '../log/append-stream.ts';
